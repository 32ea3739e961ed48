import type { Member } from "@vidimus/contracts/vidimus/access/v1/member_service";

interface FirstMembers {
  readonly members: readonly Member[];
  readonly nextPageToken: string;
}

/** Member id of the only owner; undefined when more members, who may be owners, follow. */
export function lastOwnerOf({ members, nextPageToken }: FirstMembers): string | undefined {
  const owners = members.filter(({ roles }) => roles.includes("owner"));
  return nextPageToken === "" && owners.length === 1 ? owners[0]?.memberId : undefined;
}

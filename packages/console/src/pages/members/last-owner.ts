import type { Member } from "@vidimus/contracts/vidimus/access/v1/member_service";

interface FirstMembers {
  readonly members: readonly Member[];
  readonly nextPageToken: string;
}

/**
 * Id of a newsroom's only owner, from its first members; undefined while there may be another one.
 */
export function lastOwnerOf({ members, nextPageToken }: FirstMembers): string | undefined {
  const owners = members.filter(({ roles }) => roles.includes("owner"));
  return nextPageToken === "" && owners.length === 1 ? owners[0]?.memberId : undefined;
}

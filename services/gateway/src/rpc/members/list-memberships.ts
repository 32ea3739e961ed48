import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { personActor } from "@vidimus/kit/rpc/context/person";
import { requireIdentity } from "../../access/member-rules.ts";
import type { MemberStore } from "../../store/member-store.ts";
import { membershipToProto } from "./messages.ts";

export interface ListMembershipsDeps {
  members: Pick<MemberStore, "listMemberships">;
}

export function listMemberships({
  members,
}: ListMembershipsDeps): MethodImpl<typeof MemberService.method.listMemberships> {
  return async ({ identity }, { signal }) => {
    const found = await members.listMemberships(personActor(requireIdentity(identity)), signal);
    return { memberships: found.map(membershipToProto) };
  };
}

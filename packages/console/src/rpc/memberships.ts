import type { Membership as MembershipMessage } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { type Identity, personActor } from "@vidimus/kit/rpc/context/person";
import { type Acting, actingAs } from "./acting-as.ts";
import type { MemberCalls } from "./called-methods.ts";

export interface Membership {
  readonly tenantId: string;
  readonly tenantName: string;
  /** Whether writes of the tenant are refused. */
  readonly disabled: boolean;
  readonly roles: readonly string[];
  /** Actor of the inviter. */
  readonly invitedBy: string;
}

export async function membershipsOf(
  members: Pick<MemberCalls, "listMemberships">,
  call: Acting,
  identity: Identity,
): Promise<Membership[]> {
  const { memberships } = await members.listMemberships({ identity }, actingAs(call, personActor(identity)));
  return memberships.flatMap(fromProto);
}

function fromProto({ tenantId, tenantName, tenantDisabled, member }: MembershipMessage): Membership[] {
  if (!member) return [];
  const { roles, invitedBy } = member;
  return [{ tenantId, tenantName, disabled: tenantDisabled, roles, invitedBy }];
}

import { type Client, type CallOptions } from "@connectrpc/connect";
import type {
  MemberService,
  Membership as MembershipMessage,
} from "@vidimus/contracts/vidimus/access/v1/member_service";
import { contextHeaders } from "@vidimus/kit/rpc/call-context";
import { fromConnectError } from "@vidimus/kit/rpc/error-table";
import type { Call } from "../http/route.ts";
import { type Identity, memberIdOf } from "../sign-in/identity.ts";

/** The methods of access that the pages call. The console's grant names these, and no other. */
export const calledMethods = [
  "acceptInvitation",
  "getInvitation",
  "getSignInLink",
  "inviteMember",
  "listMemberships",
  "redeemSignInLink",
  "removeMember",
  "updateMemberRoles",
] as const satisfies readonly (keyof typeof MemberService.method)[];

/** What the console calls at the teams door of access. */
export type MemberCalls = Pick<Client<typeof MemberService>, (typeof calledMethods)[number]>;

/** A tenant that someone is a member of. */
export interface Membership {
  readonly tenantId: string;
  readonly tenantName: string;
  /** Writes of the tenant are refused. */
  readonly disabled: boolean;
  readonly roles: readonly string[];
  /** The actor that invited. */
  readonly invitedBy: string;
}

const callMs = 5_000;

/** Says to a service who calls, with which role, and for how long it may take. */
export function actingAs(call: Pick<Call, "requestId" | "signal" | "from">, actor: string, role = ""): CallOptions {
  const { requestId, signal, from } = call;
  return { headers: contextHeaders({ requestId, actor, role, from }), signal, timeoutMs: callMs };
}

/** The tenants of a person with its roles, as they are now. */
export async function membershipsOf(
  members: Pick<MemberCalls, "listMemberships">,
  call: Pick<Call, "requestId" | "signal" | "from">,
  identity: Identity,
): Promise<Membership[]> {
  const { memberships } = await members.listMemberships({ identity }, actingAs(call, memberIdOf(identity)));
  return memberships.flatMap(fromProto);
}

function fromProto({ tenantId, tenantName, tenantDisabled, member }: MembershipMessage): Membership[] {
  if (!member) return [];
  const { roles, invitedBy } = member;
  return [{ tenantId, tenantName, disabled: tenantDisabled, roles, invitedBy }];
}

/** The answer of a call; undefined when it says NOT_FOUND. */
export async function unlessNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (fromConnectError(error)?.kind === "not_found") return undefined;
    throw error;
  }
}

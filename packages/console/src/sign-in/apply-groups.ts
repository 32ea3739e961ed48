import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Call } from "../http/route.ts";
import { actingAs } from "../rpc/acting-as.ts";
import type { MemberCalls } from "../rpc/called-methods.ts";
import { type Membership, membershipsOf } from "../rpc/memberships.ts";
import { type GroupRules, rolesOfGroups } from "./group-rules.ts";
import { personActor } from "@vidimus/kit/rpc/context/person";
import type { Vouched } from "./oidc-provider.ts";

export interface ApplyGroupsDeps {
  readonly members: Pick<
    MemberCalls,
    "listMemberships" | "inviteMember" | "acceptInvitation" | "updateMemberRoles" | "removeMember"
  >;
  readonly groups: GroupRules | undefined;
  readonly log: Logger;
}

/**
 * Actor of the changes that rules make. As the inviter of a member it marks the members that rules
 * made.
 */
const groupsActor = "console-groups";

/**
 * Gives a person at sign-in the roles of its groups in each tenant that a rule names, and removes
 * the person from each such tenant in which no rule gives it a role. A member who came in another
 * way, such as by a colleague's invitation, keeps its roles: rules change nothing there.
 *
 * A change that access refuses, such as removing the last owner, is logged, and the sign-in
 * continues.
 */
export async function applyGroups(
  { members, groups, log }: ApplyGroupsDeps,
  call: Call,
  vouched: Vouched,
): Promise<void> {
  if (!groups) return;
  const existing = new Map(
    (await membershipsOf(members, call, vouched.identity)).map((membership) => [membership.tenantId, membership]),
  );
  for (const [tenantId, roles] of rolesOfGroups(groups, groupsOf(groups, vouched))) {
    try {
      await applyTo(members, call, vouched, { tenantId, roles, membership: existing.get(tenantId) });
    } catch (error) {
      const refusal = fromConnectError(error);
      if (!refusal || refusal.kind === "unavailable" || refusal.kind === "deadline_exceeded") throw error;
      log.warn(
        { tenant: tenantId, member: personActor(vouched.identity), err: refusal },
        "roles of groups were refused",
      );
    }
  }
}

interface Wanted {
  readonly tenantId: string;
  readonly roles: readonly string[];
  readonly membership: Membership | undefined;
}

async function applyTo(
  members: ApplyGroupsDeps["members"],
  call: Call,
  { identity, name, address }: Vouched,
  { tenantId, roles, membership }: Wanted,
): Promise<void> {
  const options = actingAs(call, groupsActor, "owner");
  const memberId = personActor(identity);
  if (!membership) {
    if (roles.length === 0) return;
    const { code } = await members.inviteMember({ tenantId, roles: [...roles], note: name }, options);
    await members.acceptInvitation({ code, identity, name, address }, actingAs(call, memberId));
  } else if (membership.invitedBy === groupsActor) {
    if (roles.length === 0) await members.removeMember({ tenantId, memberId }, options);
    else if (!sameRoles(membership.roles, roles)) {
      await members.updateMemberRoles({ tenantId, memberId, roles: [...roles] }, options);
    }
  }
}

function sameRoles(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((role) => b.includes(role));
}

/** Some issuers state a single group without a list around it. */
function groupsOf({ claim }: GroupRules, { claims }: Vouched): string[] {
  return [claims[claim]].flat().filter((group) => typeof group === "string");
}

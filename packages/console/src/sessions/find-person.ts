import type { Call, Person } from "../http/route.ts";
import { type MemberCalls, membershipsOf } from "../rpc/memberships.ts";
import { memberIdOf } from "../sign-in/identity.ts";
import type { SessionStore } from "../store/session-store.ts";

export interface FindPersonDeps {
  readonly sessions: Pick<SessionStore, "find" | "see">;
  readonly members: Pick<MemberCalls, "listMemberships">;
}

const cookieIdPattern = /^[\w-]{43}$/;

/** Finds who calls, with the roles of this moment. Undefined without a session. */
export async function findPerson({ sessions, members }: FindPersonDeps, call: Call): Promise<Person | undefined> {
  const cookieId = call.cookie("session");
  const session = cookieIdPattern.test(cookieId) ? await sessions.find(cookieId, call.now) : undefined;
  if (!session) return undefined;
  const [memberships] = await Promise.all([
    membershipsOf(members, call, session.identity),
    sessions.see(cookieId, session, call.now),
  ]);
  const chosen = memberships.find(({ tenantId }) => tenantId === session.tenantId);
  return { cookieId, session, memberId: memberIdOf(session.identity), memberships, current: chosen ?? memberships[0] };
}

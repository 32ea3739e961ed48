import type { Call, Person } from "../http/route.ts";
import type { MemberCalls } from "../rpc/called-methods.ts";
import { membershipsOf } from "../rpc/memberships.ts";
import { memberIdOf } from "../domain/identity.ts";
import type { SessionStore } from "../store/session-store.ts";

interface FindPersonDeps {
  readonly sessions: Pick<SessionStore, "find" | "see">;
  readonly members: Pick<MemberCalls, "listMemberships">;
}

const cookieIdPattern = /^[\w-]{43}$/;

/** Finds the calling person with its current roles. Undefined without a session. */
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

import type { Call, Person } from "../http/route.ts";
import type { MemberCalls } from "../rpc/called-methods.ts";
import { membershipsOf } from "../rpc/memberships.ts";
import { personActor } from "@vidimus/kit/rpc/context/person";
import type { SessionStore } from "../store/session-store.ts";

interface FindPersonDeps {
  readonly sessions: Pick<SessionStore, "find" | "identityOf" | "see">;
  readonly members: Pick<MemberCalls, "listMemberships">;
}

const cookieIdPattern = /^[\w-]{43}$/;

/** Undefined without a session. */
export async function findPerson({ sessions, members }: FindPersonDeps, call: Call): Promise<Person | undefined> {
  const cookieId = call.cookie("session");
  if (!cookieIdPattern.test(cookieId)) return undefined;
  // The memberships are asked for while the session is read, if this process found it before.
  const identity = sessions.identityOf(cookieId);
  const early = identity && membershipsOf(members, call, identity);
  // Nobody awaits `early` when the session has ended, and its failure must not end the process.
  early?.catch(() => {});
  const session = await sessions.find(cookieId, call.now);
  if (!session) return undefined;
  const [memberships] = await Promise.all([
    early ?? membershipsOf(members, call, session.identity),
    sessions.see(cookieId, session, call.now),
  ]);
  const chosen = memberships.find(({ tenantId }) => tenantId === session.tenantId);
  return { cookieId, session, memberId: personActor(session.identity), memberships, current: chosen ?? memberships[0] };
}

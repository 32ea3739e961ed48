import { expect, test, vi } from "vitest";
import type { Session } from "../domain/session.ts";
import type { Call } from "../http/route.ts";
import { RoundCounter } from "../rpc/rounds.ts";
import { findPerson } from "./find-person.ts";

const identity = { issuer: "vidimus:link", subject: "ida" };
const session = { identity, tenantId: "demo" } as Session;
const call = {
  now: new Date(),
  requestId: "r-1",
  signal: new AbortController().signal,
  rounds: new RoundCounter(),
  cookie: () => "c".repeat(43),
} as unknown as Call;

/** `known` is the identity that the store remembers; `found` ends the reading of the session. */
function open(known: typeof identity | undefined, answer = Promise.resolve({ memberships: [] })) {
  const { promise, resolve: found } = Promise.withResolvers<Session | undefined>();
  const sessions = { find: () => promise, identityOf: () => known, see: async () => {} };
  const listMemberships = vi.fn<(request: unknown, options: unknown) => typeof answer>(() => answer);
  const person = findPerson({ sessions, members: { listMemberships } as never }, call);
  return { person, listMemberships, found };
}

test("the memberships of a session that was found before are asked for once, while the session is read", async () => {
  const { person, listMemberships, found } = open(identity);
  expect(listMemberships.mock.calls).toEqual([[{ identity }, expect.anything()]]);
  found(session);
  expect(await person).toMatchObject({ session, memberships: [] });
  expect(listMemberships).toHaveBeenCalledOnce();
});

test("a session that was not found before is read before its memberships are asked for", async () => {
  const { person, listMemberships, found } = open(undefined);
  await Promise.resolve();
  expect(listMemberships).not.toHaveBeenCalled();
  found(session);
  expect(await person).toMatchObject({ session, memberships: [] });
});

test("no person is found for a session that has ended, even if its memberships cannot be read", async () => {
  for (const answer of [undefined, Promise.reject(new Error("down"))]) {
    const { person, found } = open(identity, answer);
    found(undefined);
    expect(await person).toBeUndefined();
  }
});

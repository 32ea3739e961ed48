import { describe, expect, test } from "vitest";
import { listStater, newKey, type StatedAnswer } from "../test/support/list-stater.ts";
import { trustVector as vector } from "./trust-vector.ts";
import { type TrustListPins, VerificationError, verifyTrustList } from "./verify.ts";

const hourMs = 3_600_000;
const now = vector.issuedAt.getTime();
const stater = listStater();
const { root, listKey } = stater;
const entry = { ...newEntry(), validUntil: null };
const list = { active: entry.keyId, keys: [entry] };

function newEntry() {
  const { id, spki } = newKey();
  return { keyId: id, algorithm: "ed25519", publicKey: spki, validFrom: "2026-01-01T00:00:00.000Z", validUntil: null };
}

const state = (revision = 5, issuedAt = now) => stater.state(list, { revision, issuedAt });

function verify({ body, headers }: StatedAnswer, pins: TrustListPins = { root }, at = now) {
  const [statement, signature] = [headers["vidimus-trust-statement"], headers["vidimus-trust-signature"]];
  return verifyTrustList({ body, statement, signature }, pins, at);
}

async function refusalOf(...args: Parameters<typeof verify>): Promise<string> {
  const error = await verify(...args).then(
    () => new Error("accepted"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(VerificationError);
  expect(error).toMatchObject({ fault: "list" });
  return (error as Error).message;
}

test("a body that is no JSON is refused, although its statement is genuine", async () => {
  expect(await refusalOf(stater.state("[", { issuedAt: now }))).toBe("body: it is no JSON");
});

describe("the vector, computed by other software", () => {
  test("is accepted whether its root or its list key is pinned", async () => {
    const { keys, ...verified } = await verify(vector, { root: vector.root, revision: 5 });
    expect(verified).toEqual({
      active: "ed25519-_RENMB0vB33hQUuP",
      revision: 5,
      issuedAt: vector.issuedAt,
      listKey: vector.listKey,
      delegatedUntil: vector.delegatedUntil,
    });
    expect(keys).toEqual((JSON.parse(vector.body) as { keys: unknown }).keys);
    await expect(verify(vector, { listKey: vector.listKey })).resolves.toMatchObject(verified);
  });

  test("is refused for its delegation, not its age, from the end of the delegation on", async () => {
    const at = vector.delegatedUntil.getTime();
    expect(await refusalOf(vector, { root: vector.root }, at)).toContain("delegation: it ended");
    expect(await refusalOf(vector, { root: vector.root }, at - 1)).toContain("age:");
  });

  test("is refused with the last bit of any header byte changed, but for unused bits of base64", async () => {
    const genuine = await verify(vector, { root: vector.root });
    const unused: unknown[] = [];
    for (const name of ["vidimus-trust-statement", "vidimus-trust-signature"] as const) {
      const bytes = Buffer.from(vector.headers[name]);
      for (let at = 0; at < bytes.length; at += 1) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1;
        const answer = { ...vector, headers: { ...vector.headers, [name]: changed.toString("latin1") } };
        const accepted = await verify(answer, { root: vector.root }).catch((error: unknown) => {
          expect(error).toMatchObject({ fault: "list" });
        });
        if (accepted) unused.push(accepted);
      }
    }
    // The last character of the root's signature in the delegation, and of the delegation itself:
    // bit 0 of each is unused.
    expect(unused).toEqual([genuine, genuine]);
  });
});

test("a list to which a backdated key was added after it was stated is refused", async () => {
  const backdated = { ...newEntry(), validFrom: "2020-01-01T00:00:00.000Z", validUntil: "2020-12-31T00:00:00.000Z" };
  const body = JSON.stringify({ ...list, keys: [entry, backdated] });
  expect(await refusalOf({ ...state(), body })).toContain("digest: another list was stated");
});

test.each([
  ["root", { root }, "chain: the pinned root did not delegate"],
  ["list key", { listKey }, "chain: another list key"],
])(
  "a forged list, with a list key and a root of its own, is refused when the %s is pinned",
  async (_, pins, reason) => {
    const forged = listStater().state({ ...list, keys: [entry, newEntry()] }, { revision: 6, issuedAt: now });
    expect(await refusalOf(forged, pins)).toContain(reason);
  },
);

test("under a pinned root, a delegation to another list key than the list's is refused", async () => {
  const borrowed = listStater().state(list, { issuedAt: now, delegation: stater.delegate(now + hourMs) });
  expect(await refusalOf(borrowed)).toContain("chain: the root delegated to another list key");
});

test("under a pinned root, a delegation by another root is refused", async () => {
  const { delegate } = listStater();
  const selfMade = stater.state(list, { issuedAt: now, delegation: delegate(now + hourMs) });
  expect(await refusalOf(selfMade)).toContain("chain: the pinned root did not delegate");
});

test("a list without a delegation is accepted only where no root is pinned", async () => {
  const bare = stater.state(list, { issuedAt: now, delegation: null });
  expect(await refusalOf(bare)).toContain("chain:");
  await expect(verify(bare, {})).resolves.toMatchObject({ listKey, delegatedUntil: undefined });
});

test("a list whose delegation has ended is refused when a root is pinned", async () => {
  const ended = stater.state(list, { issuedAt: now, delegation: stater.delegate(now) });
  expect(await refusalOf(ended)).toContain("delegation: it ended");
});

test("a list without a statement or its signature is refused even when nothing is pinned", async () => {
  const { body } = state();
  for (const [statement, signature] of [
    [null, null],
    ["", ""],
    [null, state().headers["vidimus-trust-signature"]],
    [state().headers["vidimus-trust-statement"], null],
    [state().headers["vidimus-trust-statement"], 'keyid="\\"", sig=1'],
  ] as const) {
    await expect(verifyTrustList({ body, statement, signature }, {}, now)).rejects.toMatchObject({ fault: "list" });
  }
});

test("a list is accepted only from 5 minutes before until 25 hours after the time of its statement", async () => {
  await expect(verify(state(5, now - 25 * hourMs))).resolves.toMatchObject({ revision: 5 });
  expect(await refusalOf(state(5, now - 25 * hourMs - 1))).toContain("age: the list was stated more than 25 hours");
  await expect(verify(state(5, now + 300_000))).resolves.toBeDefined();
  expect(await refusalOf(state(5, now + 300_001))).toContain("age: the list was stated in the future");
});

test("a list with a lower revision than the pinned one is refused", async () => {
  await expect(verify(state(5), { root, revision: 5 })).resolves.toMatchObject({ revision: 5 });
  expect(await refusalOf(state(4), { root, revision: 5 })).toBe("revision: 4 was taken back, 5 is newer");
});

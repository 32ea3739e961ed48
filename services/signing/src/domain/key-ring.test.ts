import { describe, expect, test } from "vitest";
import type { CustodyKey } from "./key-custody.ts";
import {
  assertRing,
  foundingKeys,
  type KeyRing,
  listedKeys,
  pendingKey,
  type RingKey,
  signingKey,
} from "./key-ring.ts";
import { activateKey, pauseSigning, resumeSigning, retireKey, revokeKey } from "./ring-changes.ts";
import { tendRing } from "./tend-ring.ts";

const now = new Date("2026-11-21T09:30:00.123Z");
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const rules = { prepublishMs: dayMs, rotateAfterMs: 90 * dayMs };
const later = (ms: number) => new Date(now.getTime() + ms);

function custodyKey(keyId: string): CustodyKey {
  return { keyId, publicKey: new Uint8Array([1]), sealed: { custody: "test", envelope: new Uint8Array([2]) } };
}

const founded = [...foundingKeys(custodyKey("first"), now), pendingKey(custodyKey("standby"), now, dayMs)];
const listKey = { ...custodyKey("list"), delegation: undefined };
const ringOf = (keys: readonly RingKey[]): KeyRing => ({ revision: 1, keys, listKey });
const statesOf = (keys: readonly RingKey[]) => Object.fromEntries(keys.map(({ keyId, state }) => [keyId, state]));
const keyOf = (keys: readonly RingKey[], id: string) => keys.find(({ keyId }) => keyId === id);

/** Ids of the listed keys that have no end. */
function openEnded(keys: readonly RingKey[]): string[] {
  return listedKeys(ringOf(keys)).flatMap(({ keyId, validUntil }) => (validUntil ? [] : [keyId]));
}

function withKey(keyId: string, change: Partial<RingKey>): KeyRing {
  return ringOf(founded.map((key) => (key.keyId === keyId ? { ...key, ...change } : key)));
}

describe("a first ring", () => {
  test("has a key that signs at once, and a standby that may sign a day later and ends a year after that", async () => {
    const names = ["first", "standby"];
    const keys = await tendRing(undefined, now, rules, async () => custodyKey(names.shift()!));
    expect(keys).toEqual(founded);
    expect(signingKey({ keys })).toMatchObject({ keyId: "first", state: "active", validFrom: now, activeSince: now });
    const standby = { keyId: "standby", state: "pending", publishedAt: now, validFrom: later(dayMs) };
    expect(keys[1]).toMatchObject({ ...standby, validUntil: later(366 * dayMs) });
    expect(openEnded(keys)).toEqual(["first"]);
  });
});

describe("a pause", () => {
  test("leaves no key that signs", () => {
    expect(signingKey({ keys: pauseSigning(founded, later(hourMs)) })).toBeUndefined();
  });

  test("gives the paused key an end 33 days ahead", () => {
    const off = pauseSigning(founded, later(hourMs));
    expect(openEnded(off)).toEqual([]);
    expect(off[0]?.validUntil).toEqual(later(hourMs + 33 * dayMs));
    expect(() => assertRing(ringOf(off))).not.toThrow();
  });

  test("ends with the same key signing again", () => {
    expect(resumeSigning(pauseSigning(founded, now), now)).toEqual(founded);
  });

  test("that is begun or ended a second time changes nothing", () => {
    const off = pauseSigning(founded, now);
    expect(pauseSigning(off, now)).toBe(off);
    expect(resumeSigning(founded, now)).toBe(founded);
  });

  test("that is renewed daily for 100 days ends with the same key signing again", () => {
    const days = Array.from({ length: 100 }, (_, day) => later(day * dayMs));
    const off = days.reduce<readonly RingKey[]>((keys, at) => pauseSigning(keys, at), founded);
    expect(signingKey({ keys: resumeSigning(off, later(100 * dayMs)) })?.keyId).toBe("first");
  });

  test("that ends an hour before the key's end retires the key: receivers would refuse it", () => {
    const keys = resumeSigning(pauseSigning(founded, now), later(33 * dayMs - hourMs));
    expect(keys[0]).toMatchObject({ state: "retired", validUntil: later(33 * dayMs), sealed: undefined });
  });
});

describe("activating a key", () => {
  test("retires the active key, which keeps no private key and ends 33 days later", () => {
    const keys = activateKey(founded, "standby", later(dayMs), { emergency: false });
    expect(statesOf(keys)).toEqual({ first: "retired", standby: "active" });
    expect(keyOf(keys, "first")).toMatchObject({ sealed: undefined, validUntil: later(34 * dayMs) });
    expect(keyOf(keys, "standby")).toMatchObject({ validFrom: later(dayMs), activeSince: later(dayMs) });
    expect(openEnded(keys)).toEqual(["standby"]);
  });

  test("is refused before the key was published long enough, but not in an emergency", () => {
    const early = () => activateKey(founded, "standby", later(dayMs - 1), { emergency: false });
    expect(early).toThrow("the key standby may sign from 2026-11-22T09:30:00.123Z on");
    const keys = activateKey(founded, "standby", later(hourMs), { emergency: true });
    expect(keyOf(keys, "standby")).toMatchObject({ state: "active", validFrom: later(hourMs) });
  });

  test("is refused for a key whose planned end is too near", () => {
    const late = () => activateKey(founded, "standby", later(340 * dayMs), { emergency: false });
    expect(late).toThrow("the planned end of the key standby is too near");
  });

  test("does not end a pause", () => {
    const keys = activateKey(pauseSigning(founded, now), "standby", later(dayMs), { emergency: false });
    expect(signingKey({ keys })).toBeUndefined();
    expect(signingKey({ keys: resumeSigning(keys, later(dayMs)) })?.keyId).toBe("standby");
  });

  test.each([
    ["an active key", "first", "is active, not pending"],
    ["a key that is not in the ring", "other", "has no key other"],
  ])("is refused for %s", (_, keyId, fault) => {
    expect(() => activateKey(founded, keyId, later(dayMs), { emergency: true })).toThrow(fault);
  });
});

describe("revoking", () => {
  test("of the active key lets a standby that is ready sign in its place", () => {
    const keys = revokeKey(founded, "first", later(dayMs), { emergency: false });
    expect(statesOf(keys)).toEqual({ first: "revoked", standby: "active" });
  });

  test("takes a key out of the trust list and destroys its private key", () => {
    const keys = revokeKey(founded, "first", later(dayMs), { emergency: false });
    expect(listedKeys(ringOf(keys)).map(({ keyId }) => keyId)).toEqual(["standby"]);
    expect(keyOf(keys, "first")?.sealed).toBeUndefined();
  });

  test("of the active key leaves no key that signs until the standby may sign, except in an emergency", async () => {
    const keys = revokeKey(founded, "first", later(hourMs), { emergency: false });
    expect(statesOf(keys)).toEqual({ first: "revoked", standby: "pending" });
    expect(() => assertRing(ringOf(keys))).not.toThrow();
    const tended = (at: Date) => tendRing(keys, at, rules, async () => custodyKey("third"));
    expect(await tended(later(dayMs - 1))).toBe(keys);
    expect(statesOf(await tended(later(dayMs)))).toEqual({ first: "revoked", standby: "active", third: "pending" });
    const urgent = revokeKey(founded, "first", later(hourMs), { emergency: true });
    expect(statesOf(urgent)).toEqual({ first: "revoked", standby: "active" });
  });

  test("is possible for a retired key", () => {
    const rotated = activateKey(founded, "standby", later(dayMs), { emergency: false });
    const keys = revokeKey(rotated, "first", now, { emergency: false });
    expect(statesOf(keys)).toEqual({ first: "revoked", standby: "active" });
  });

  test("is possible for a pending key", () => {
    const keys = revokeKey(founded, "standby", now, { emergency: false });
    expect(statesOf(keys)).toEqual({ first: "active", standby: "revoked" });
  });

  test("is refused for a key that is revoked already", () => {
    const keys = revokeKey(founded, "standby", now, { emergency: false });
    expect(() => revokeKey(keys, "standby", now, { emergency: false })).toThrow("is revoked already");
  });
});

describe("tending", () => {
  const tend = (keys: readonly RingKey[], at: Date, rotateAfterMs: number | undefined = rules.rotateAfterMs) =>
    tendRing(keys, at, { ...rules, rotateAfterMs }, async () => custodyKey("third"));

  test("changes nothing while nothing is due", async () => {
    expect(await tend(founded, later(89 * dayMs))).toBe(founded);
  });

  test("replaces an active key of 90 days by the standby, and the standby by a new key", async () => {
    const keys = await tend(founded, later(90 * dayMs));
    expect(statesOf(keys)).toEqual({ first: "retired", standby: "active", third: "pending" });
    expect(keyOf(keys, "third")?.validFrom).toEqual(later(91 * dayMs));
  });

  const unrotated = (at: Date) =>
    tendRing(founded, at, { ...rules, rotateAfterMs: undefined }, async () => custodyKey("third"));

  test("leaves an active key of 300 days alone when rotation is off", async () => {
    expect(await unrotated(later(300 * dayMs))).toBe(founded);
  });

  test("replaces a standby whose planned end is near", async () => {
    const keys = await unrotated(later(340 * dayMs));
    expect(statesOf(keys)).toEqual({ first: "active", standby: "retired", third: "pending" });
  });

  test("publishes a new standby after the old standby was retired by hand", async () => {
    const keys = await tend(retireKey(founded, "standby", now), now);
    expect(statesOf(keys)).toEqual({ first: "active", standby: "retired", third: "pending" });
  });
});

const standby = (change: Partial<RingKey>) => withKey("standby", change);

test.each<[string, KeyRing, string]>([
  ["two active keys", standby({ state: "active", validUntil: undefined }), "2 active keys"],
  ["two active keys of which one is paused", standby({ state: "active" }), "2 active keys"],
  ["a pending key without an end", standby({ validUntil: undefined }), "has no end"],
  ["a retired key that can still sign", standby({ state: "retired" }), "still has"],
  ["a revoked key that can still sign", standby({ state: "revoked" }), "still has"],
  ["a standby without a private key", standby({ sealed: undefined }), "lacks"],
  [
    "an active key without its time of activation",
    withKey("first", { activeSince: undefined }),
    "lacks its time of activation",
  ],
  ["one key twice", standby({ keyId: "first" }), "twice"],
  ["no revision", { ...ringOf(founded), revision: 0 }, "revision 0"],
])("a ring with %s is refused", (_, ring, fault) => {
  expect(() => assertRing(ring)).toThrow(fault);
});

import { expect, test } from "vitest";
import type { CustodyKey } from "./key-custody.ts";
import { assertRing, foundRing, listedKeys, pauseSigning, resumeSigning, signingKey } from "./key-ring.ts";
import type { KeyRing, RingKey } from "./key-ring.ts";

const now = new Date("2026-11-21T09:30:00.123Z");
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function custodyKey(keyId: string): CustodyKey {
  return { keyId, publicKey: new Uint8Array([1]), sealed: { custody: "test", envelope: new Uint8Array([2]) } };
}

const founded = foundRing(custodyKey("first"), custodyKey("standby"), now);

/** Ids of the listed keys that have no end. */
function openEnded(ring: KeyRing): string[] {
  return listedKeys(ring).flatMap(({ keyId, validUntil }) => (validUntil ? [] : [keyId]));
}

function withKey(ring: KeyRing, keyId: string, change: Partial<RingKey>): KeyRing {
  return { ...ring, keys: ring.keys.map((key) => (key.keyId === keyId ? { ...key, ...change } : key)) };
}

test("the first key signs at once; the standby is published, with its earliest activation and a planned end", () => {
  expect(founded.revision).toBe(1);
  expect(signingKey(founded)).toMatchObject({ keyId: "first", state: "active", validFrom: now });
  const [, standby] = founded.keys;
  expect(standby).toMatchObject({ keyId: "standby", state: "pending", publishedAt: now });
  expect(standby?.validFrom).toEqual(new Date(now.getTime() + dayMs));
  expect(standby?.validUntil).toEqual(new Date(now.getTime() + 366 * dayMs));
});

test("exactly one listed key has no end, and it is the one that signs", () => {
  expect(openEnded(founded)).toEqual(["first"]);
});

test("while signing is off no key signs, and every listed key has an end, 33 days ahead for the paused one", () => {
  const off = pauseSigning(founded, new Date(now.getTime() + hourMs));
  expect(off.revision).toBe(2);
  expect(signingKey(off)).toBeUndefined();
  expect(openEnded(off)).toEqual([]);
  expect(off.keys[0]?.validUntil?.getTime()).toBe(now.getTime() + hourMs + 33 * dayMs);
  expect(() => assertRing(off)).not.toThrow();
});

test("signing resumes with the key that was paused", () => {
  const on = resumeSigning(pauseSigning(founded, now));
  expect(on).toEqual({ ...founded, revision: 3 });
});

test("pausing twice, or resuming what signs, makes no revision", () => {
  const off = pauseSigning(founded, now);
  expect(pauseSigning(off, now)).toBe(off);
  expect(resumeSigning(founded)).toBe(founded);
});

test("a revoked key is not listed, a retired one is", () => {
  const gone = { sealed: undefined, validUntil: now };
  const ring = withKey(withKey(founded, "first", { state: "retired", ...gone }), "standby", {
    state: "revoked",
    ...gone,
  });
  expect(() => assertRing(ring)).not.toThrow();
  expect(listedKeys(ring).map(({ keyId }) => keyId)).toEqual(["first"]);
});

test.each<[string, KeyRing, string]>([
  ["two active keys", withKey(founded, "standby", { state: "active", validUntil: undefined }), "2 active keys"],
  ["two active keys, one paused", withKey(founded, "standby", { state: "active" }), "2 active keys"],
  ["a pending key without an end", withKey(founded, "standby", { validUntil: undefined }), "has no end"],
  ["a retired key that can still sign", withKey(founded, "standby", { state: "retired" }), "still has"],
  ["a revoked key that can still sign", withKey(founded, "standby", { state: "revoked" }), "still has"],
  ["a standby without a private key", withKey(founded, "standby", { sealed: undefined }), "lacks"],
  ["one key twice", withKey(founded, "standby", { keyId: "first" }), "twice"],
  ["no revision", { ...founded, revision: 0 }, "revision 0"],
])("a ring with %s is refused", (_, ring, fault) => {
  expect(() => assertRing(ring)).toThrow(fault);
});

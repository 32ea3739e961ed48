import { DomainError } from "@vidimus/kit/errors";
import { beforeEach, describe, expect, test } from "vitest";
import { hashApiKey, mintApiKey } from "./api-key.ts";
import type { KnownKey } from "./key-record.ts";
import { KeyVerifier } from "./key-verifier.ts";

const { key, prefix } = mintApiKey();
const row: KnownKey = {
  keyId: "k1",
  tenantId: "acme",
  prefix,
  hash: hashApiKey(key),
  scopes: ["publisher:read"],
  tenantDisabled: false,
};

/** The monotonic clock, in milliseconds. */
let now = 0;
/** Milliseconds by which the wall clock is ahead of the monotonic clock. */
let skew = 0;
let lookups = 0;
let answer: () => Promise<KnownKey | undefined>;
let verifier: KeyVerifier;

const down = () => Promise.reject(new DomainError("unavailable", "down"));

beforeEach(() => {
  now = 1_000_000;
  skew = 0;
  lookups = 0;
  answer = async () => row;
  const find = () => {
    lookups += 1;
    return answer();
  };
  verifier = new KeyVerifier({ find, now: () => now + skew, elapsed: () => now });
});

describe("a known key", () => {
  test("is verified with its tenant and its scopes", async () => {
    expect(await verifier.verify(key)).toEqual({ tenantId: "acme", keyId: "k1", prefix, scopes: ["publisher:read"] });
  });

  test("is looked up once in ten seconds", async () => {
    await verifier.verify(key);
    now += 9_999;
    await verifier.verify(key);
    expect(lookups).toBe(1);
    now += 1;
    await verifier.verify(key);
    expect(lookups).toBe(2);
  });

  test.each([-3_600_000, 3_600_000])(
    "is looked up again after ten seconds, also when the wall clock jumps by %d ms",
    async (jump) => {
      await verifier.verify(key);
      skew = jump;
      now += 9_999;
      await verifier.verify(key);
      expect(lookups).toBe(1);
      now += 1;
      await verifier.verify(key);
      expect(lookups).toBe(2);
    },
  );

  test("is looked up once for all requests that come during the look-up", async () => {
    const gate = Promise.withResolvers<KnownKey>();
    answer = () => gate.promise;
    const all = Array.from({ length: 20 }, async () => verifier.verify(key));
    gate.resolve(row);
    for (const caller of await Promise.all(all)) expect(caller?.keyId).toBe("k1");
    expect(lookups).toBe(1);
  });

  test.each([
    ["revoked", { revokedAt: new Date(0) }],
    ["revoked by a gateway whose clock is ahead", { revokedAt: new Date(1_000_000 + 60_000) }],
    ["expired", { expiresAt: new Date(1_000_000) }],
    ["of a disabled tenant", { tenantDisabled: true }],
  ])("is refused when the look-up says that it is %s", async (_, change) => {
    answer = async () => ({ ...row, ...change });
    expect(await verifier.verify(key)).toBeUndefined();
  });

  test("is refused from the moment it expires, also while it is cached", async () => {
    answer = async () => ({ ...row, expiresAt: new Date(now + 5_000) });
    expect(await verifier.verify(key)).toBeDefined();
    now += 5_000;
    expect(await verifier.verify(key)).toBeUndefined();
    expect(lookups).toBe(1);
  });
});

describe("an unknown key", () => {
  test("that is malformed is refused without a look-up", async () => {
    expect(await verifier.verify("vk_nonsense")).toBeUndefined();
    expect(lookups).toBe(0);
  });

  test("with a right prefix and a right checksum, but another secret, is refused", async () => {
    const other = mintApiKey();
    answer = async () => ({ ...row, prefix: other.prefix });
    expect(await verifier.verify(other.key)).toBeUndefined();
  });

  test("is looked up once in five seconds", async () => {
    answer = async () => undefined;
    await verifier.verify(key);
    now += 4_999;
    expect(await verifier.verify(key)).toBeUndefined();
    expect(lookups).toBe(1);
    now += 1;
    await verifier.verify(key);
    expect(lookups).toBe(2);
  });

  test("leaves a valid key cached", async () => {
    await verifier.verify(key);
    answer = async () => undefined;
    expect(await verifier.verify(mintApiKey().key)).toBeUndefined();
    expect(await verifier.verify(key)).toBeDefined();
    expect(lookups).toBe(2);
  });
});

describe("while the database is down", () => {
  test("a key looked up a minute ago fails with `unavailable`, also when the wall clock is set back", async () => {
    await verifier.verify(key);
    answer = down;
    skew = -3_600_000;
    now += 60_000;
    await expect(verifier.verify(key)).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("a key looked up in the last minute stays valid", async () => {
    await verifier.verify(key);
    answer = down;
    now += 59_999;
    expect(await verifier.verify(key)).toBeDefined();
  });

  test("a key is looked up at most once a second", async () => {
    await verifier.verify(key);
    answer = down;
    now += 30_000;
    for (let times = 0; times < 5; times += 1) await verifier.verify(key);
    expect(lookups).toBe(2);
    now += 999;
    await verifier.verify(key);
    expect(lookups).toBe(2);
    now += 1;
    await verifier.verify(key);
    expect(lookups).toBe(3);
  });

  test("a key looked up a minute ago fails with `unavailable` instead of being invalid", async () => {
    await verifier.verify(key);
    answer = down;
    now += 60_000;
    await expect(verifier.verify(key)).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("a key never looked up fails with `unavailable`, and is valid a second after the database is back", async () => {
    answer = down;
    await expect(verifier.verify(key)).rejects.toMatchObject({ kind: "unavailable" });
    answer = async () => row;
    now += 1_000;
    expect(await verifier.verify(key)).toBeDefined();
  });

  test("an evicted key fails with `unavailable` at once, although looked up in the last minute", async () => {
    await verifier.verify(key);
    answer = down;
    verifier.evict({ prefix });
    await expect(verifier.verify(key)).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("an eviction", () => {
  test.each([
    ["a key", { prefix }],
    ["a tenant", { tenantId: "acme" }],
  ])("of %s takes effect at the next request", async (_, eviction) => {
    await verifier.verify(key);
    answer = async () => ({ ...row, revokedAt: new Date(0) });
    verifier.evict(eviction);
    expect(await verifier.verify(key)).toBeUndefined();
  });

  test.each([
    ["another key", { prefix: "another" }],
    ["another tenant", { tenantId: "rival" }],
  ])("of %s leaves a valid key cached", async (_, eviction) => {
    await verifier.verify(key);
    verifier.evict(eviction);
    await verifier.verify(key);
    expect(lookups).toBe(1);
  });

  test("is not undone by a look-up that began before the eviction", async () => {
    const gate = Promise.withResolvers<KnownKey>();
    answer = () => gate.promise;
    const early = verifier.verify(key);
    verifier.evict({ prefix });
    gate.resolve(row);
    await early;
    answer = async () => ({ ...row, revokedAt: new Date(0) });
    expect(await verifier.verify(key)).toBeUndefined();
  });
});

import { createHash, generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { listStater } from "../../../verify/test/support/list-stater.ts";
import { checkTrustList } from "./check-trust-list.ts";

const nowMs = Date.parse("2026-06-01T12:00:00Z");
const cached = { "cache-control": "public, max-age=3600, stale-if-error=3600" };

function entry(validUntil: string | null, change: Record<string, unknown> = {}) {
  const der = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" });
  const keyId = `ed25519-${createHash("sha256").update(der).digest("base64url").slice(0, 16)}`;
  const publicKey = der.toString("base64");
  return { keyId, algorithm: "ed25519", publicKey, validFrom: "2026-01-01T00:00:00.000Z", validUntil, ...change };
}

const active = entry(null);
const retired = entry("2026-01-01T00:00:00.000Z");
const pending = entry("2027-01-01T00:00:00.000Z", { validFrom: "2026-06-02T00:00:00.000Z" });

const stater = listStater();
const dayMs = 86_400_000;

/** Status and text of the finding about a list that was stated just now. */
async function check(list: unknown, headers: Record<string, string> = cached, delegation: string | null = null) {
  const { body, headers: stated } = stater.state(list as object, { issuedAt: nowMs, delegation });
  return found({ body, headers: { ...headers, ...stated } });
}

async function found({ body, headers }: { body: string; headers: Record<string, string> }, root?: string) {
  const { status, finding } = await checkTrustList({ status: 200, body, headers: new Headers(headers) }, root, nowMs);
  return [status, finding];
}

test("a list of an active, a retired and a pending key is ok", async () => {
  const keys = [pending, active, retired];
  expect(await check({ active: active.keyId, keys })).toEqual(["ok", `${active.keyId} signs, 3 listed`]);
});

test("a list of nothing but a retired key is a warning that signing is off", async () => {
  expect(await check({ active: null, keys: [retired] })).toEqual([
    "warning",
    expect.stringContaining("signing is off"),
  ]);
});

test.each([
  ["two keys without an end", { active: active.keyId, keys: [active, entry(null)] }],
  ["an active key that is not listed", { active: active.keyId, keys: [retired] }],
  ["an active key that has an end", { active: retired.keyId, keys: [retired, active] }],
  ["no active key although a listed key has no end", { active: null, keys: [active] }],
  ["a key of another algorithm", { active: active.keyId, keys: [{ ...active, algorithm: "rsa" }] }],
  ["a key whose bytes are no key", { active: active.keyId, keys: [{ ...active, publicKey: "AAAA" }] }],
  [
    "a key under another key's id",
    { active: active.keyId, keys: [active, { ...retired, publicKey: active.publicKey }] },
  ],
  ["a key whose validFrom is no time", { active: active.keyId, keys: [{ ...active, validFrom: "soon" }] }],
  ["a page of another program", "<html>"],
  ["an empty object", {}],
])("the finding about %s has the status broken", async (_, body) => {
  expect((await check(body))[0]).toBe("broken");
});

test("a listed key that is not an Ed25519 key is broken, and the finding names its kind", async () => {
  const der = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "der", type: "spki" });
  const keys = [{ ...active, publicKey: der.toString("base64") }];
  expect(await check({ active: active.keyId, keys })).toEqual(["broken", `key ${active.keyId} is a key for ec`]);
});

test.each([
  ["without Cache-Control", {}, "more than an hour"],
  ["that caches may keep for two hours", { "cache-control": "public, max-age=7200" }, "more than an hour"],
  ["with a maximum age for shared caches only", { "cache-control": "public, s-maxage=60" }, "more than an hour"],
  ["that a cache kept for over an hour", { ...cached, age: "4000" }, "4000 s old"],
])("a trust list %s is a warning", async (_, headers, words) => {
  const body = { active: active.keyId, keys: [active] };
  expect(await check(body, headers)).toEqual(["warning", expect.stringContaining(words)]);
});

test("an active key that is not yet valid is a warning", async () => {
  const early = { ...active, validFrom: "2026-06-01T13:00:00.000Z" };
  expect(await check({ active: early.keyId, keys: [early] })).toEqual([
    "warning",
    expect.stringContaining("valid only from"),
  ]);
});

test("a delegation is a warning only in the last 30 days before its end", async () => {
  const list = { active: active.keyId, keys: [active] };
  const until = (days: number) => stater.delegate(nowMs + days * dayMs);
  expect(await check(list, cached, until(31))).toEqual([
    "ok",
    `${active.keyId} signs, 1 listed, delegated until 2026-07-02T12:00:00.000Z`,
  ]);
  expect(await check(list, cached, until(30))).toEqual([
    "warning",
    expect.stringContaining("delegated until 2026-07-01T12:00:00.000Z"),
  ]);
});

test("a list that fails verification is broken, and the finding names why: digest, statement, age or chain", async () => {
  const state = (issuedAt: number, delegation: string | null) =>
    stater.state({ active: active.keyId, keys: [active] }, { issuedAt, delegation });
  const genuine = state(nowMs, null);
  const planted = { ...genuine, body: JSON.stringify({ active: active.keyId, keys: [active, retired] }) };
  const refused = (why: string) => ["broken", expect.stringContaining(`is refused: ${why}`)];
  expect(await found(planted)).toEqual(refused("digest"));
  expect(await found({ ...genuine, headers: {} })).toEqual(refused("statement"));
  expect(await found(state(nowMs - 26 * 3_600_000, null))).toEqual(refused("age"));
  expect(await found(genuine, stater.root)).toEqual(refused("chain"));
  const rooted = state(nowMs, stater.delegate(nowMs + 90 * dayMs));
  expect((await found({ ...rooted, headers: { ...rooted.headers, ...cached } }, stater.root))[0]).toBe("ok");
});

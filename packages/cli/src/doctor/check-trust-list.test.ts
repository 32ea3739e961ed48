import { createHash, generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
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

function check(body: unknown, headers: Record<string, string> = cached) {
  const { status, finding } = checkTrustList(body, new Headers(headers), nowMs);
  return [status, finding];
}

test("one active key among retired and pending ones is well", () => {
  const keys = [pending, active, retired];
  expect(check({ active: active.keyId, keys })).toEqual(["ok", `${active.keyId} signs, 3 listed`]);
});

test("signing that is off is a warning, since nothing is delivered", () => {
  expect(check({ active: null, keys: [retired] })).toEqual(["warning", expect.stringContaining("signing is off")]);
});

test.each([
  ["two keys without an end", { active: active.keyId, keys: [active, entry(null)] }],
  ["an active key that is not listed", { active: active.keyId, keys: [retired] }],
  ["an active key that has an end", { active: retired.keyId, keys: [retired, active] }],
  ["no active key although one has no end", { active: null, keys: [active] }],
  ["another algorithm", { active: active.keyId, keys: [{ ...active, algorithm: "rsa" }] }],
  ["a key that is none", { active: active.keyId, keys: [{ ...active, publicKey: "AAAA" }] }],
  ["a key under another's id", { active: active.keyId, keys: [active, { ...retired, publicKey: active.publicKey }] }],
  ["a key without validFrom", { active: active.keyId, keys: [{ ...active, validFrom: "soon" }] }],
  ["a page of another program", "<html>"],
  ["an empty object", {}],
])("%s is broken", (_, body) => {
  expect(check(body)[0]).toBe("broken");
});

test("a key of another kind in the list is named as such", () => {
  const der = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "der", type: "spki" });
  const keys = [{ ...active, publicKey: der.toString("base64") }];
  expect(check({ active: active.keyId, keys })).toEqual(["broken", `key ${active.keyId} is a key for ec`]);
});

test.each([
  [{}, "more than an hour"],
  [{ "cache-control": "public, max-age=7200" }, "more than an hour"],
  [{ "cache-control": "public, s-maxage=60" }, "more than an hour"],
  [{ ...cached, age: "4000" }, "4000 s old"],
])("a list that may be or is old is a warning: %j", (headers, words) => {
  const body = { active: active.keyId, keys: [active] };
  expect(check(body, headers)).toEqual(["warning", expect.stringContaining(words)]);
});

test("an active key that is not yet valid is a warning", () => {
  const early = { ...active, validFrom: "2026-06-01T13:00:00.000Z" };
  expect(check({ active: early.keyId, keys: [early] })).toEqual([
    "warning",
    expect.stringContaining("valid only from"),
  ]);
});

import { expect, it } from "vitest";
import { isTrustedKey, validAt } from "./trust-list.ts";

const key = {
  keyId: "ed25519-AAAAAAAAAAAAAAAA",
  algorithm: "ed25519",
  publicKey: "AA==",
  validFrom: "2026-01-01T00:00:00.000Z",
  validUntil: "2026-02-01T00:00:00.000Z",
};

it.each([
  ["not valid", "2025-12-31T23:59:59.999Z"],
  ["valid", "2026-01-01T00:00:00.000Z"],
  ["valid", "2026-02-01T00:00:00.000Z"],
  ["not valid", "2026-02-01T00:00:00.001Z"],
])("a key from 1 January until 1 February 2026 is %s at %s", (expected, time) => {
  expect(validAt(key, new Date(time))).toBe(expected === "valid");
});

it("a key without an end is valid ten years after its beginning, and not before it", () => {
  expect(validAt({ ...key, validUntil: null }, new Date("2036-01-01"))).toBe(true);
  expect(validAt({ ...key, validUntil: null }, new Date("2025-01-01"))).toBe(false);
});

it("a key with a malformed beginning or end is not valid", () => {
  expect(validAt({ ...key, validFrom: "soon" }, new Date("2026-01-15"))).toBe(false);
  expect(validAt({ ...key, validUntil: "late" }, new Date("2026-01-15"))).toBe(false);
});

it("isTrustedKey accepts an entry whose members are strings, and null only as its `validUntil`", () => {
  expect(isTrustedKey(key)).toBe(true);
  for (const entry of [null, undefined, "key", [], {}]) expect(isTrustedKey(entry)).toBe(false);
  for (const name of Object.keys(key)) {
    expect(isTrustedKey({ ...key, [name]: undefined })).toBe(false);
    expect(isTrustedKey({ ...key, [name]: 7 })).toBe(false);
    expect(isTrustedKey({ ...key, [name]: null })).toBe(name === "validUntil");
  }
});

import type { Violation } from "@vidimus/kit/errors";
import { expect, test } from "vitest";
import { parseSnapshotDigest, type RawSnapshotDigest } from "./snapshot-digest.ts";

const good: RawSnapshotDigest = {
  tenantId: "demo",
  documentId: "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10",
  sequence: 1n,
  version: 1n,
  status: "withheld",
  sha256: new Uint8Array(32),
};

function faultsOf(change: Partial<RawSnapshotDigest>): string[] {
  const violations: Violation[] = [];
  const parsed = parseSnapshotDigest({ ...good, ...change }, "/items/3", violations);
  expect(parsed === undefined).toBe(violations.length > 0);
  return violations.map(({ pointer }) => pointer);
}

test("a good digest passes, also with the largest exact integer as sequence and version", () => {
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ sequence: 9007199254740991n, version: 9007199254740991n })).toEqual([]);
});

test.each<[string, Partial<RawSnapshotDigest>]>([
  ["an empty tenantId", { tenantId: "" }],
  ["a tenantId with a capital letter", { tenantId: "Demo" }],
  ["a tenantId that begins with a digit", { tenantId: "1demo" }],
  ["a tenantId of 33 characters", { tenantId: "a".repeat(33) }],
  ["a tenantId that ends with a line break", { tenantId: "demo\n" }],
  ["a tenantId with a line break inside", { tenantId: "demo\nrival" }],
  ["an empty documentId", { documentId: "" }],
  ["a documentId in capital letters", { documentId: good.documentId.toUpperCase() }],
  ["a documentId that ends with a line break", { documentId: `${good.documentId}\n` }],
  ["a documentId without hyphens", { documentId: good.documentId.replaceAll("-", "") }],
  ["the sequence 0", { sequence: 0n }],
  ["a sequence above the largest exact integer", { sequence: 9007199254740992n }],
  ["the version 0", { version: 0n }],
  ["a version above the largest exact integer", { version: 9007199254740992n }],
  ["an unknown status", { status: "draft" }],
  ["an empty status", { status: "" }],
  ["a status that ends with a line break", { status: "usable\n" }],
  ["a sha256 of 31 bytes", { sha256: new Uint8Array(31) }],
  ["a sha256 of 33 bytes", { sha256: new Uint8Array(33) }],
])("%s is refused with the member's pointer", (_, change) => {
  expect(faultsOf(change)).toEqual(Object.keys(change).map((member) => `/items/3/${member}`));
});

test("all faults of a digest are named together", () => {
  const faults = faultsOf({ tenantId: "", sequence: 0n, sha256: new Uint8Array() });
  expect(faults).toEqual(["/items/3/tenantId", "/items/3/sequence", "/items/3/sha256"]);
});

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

test("a good digest passes, up to the largest exact integer", () => {
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ sequence: 9007199254740991n, version: 9007199254740991n })).toEqual([]);
});

test.each<[Partial<RawSnapshotDigest>, string]>([
  [{ tenantId: "" }, "tenantId"],
  [{ tenantId: "Demo" }, "tenantId"],
  [{ tenantId: "1demo" }, "tenantId"],
  [{ tenantId: "a".repeat(33) }, "tenantId"],
  [{ tenantId: "demo\n" }, "tenantId"],
  [{ tenantId: "demo\nrival" }, "tenantId"],
  [{ documentId: "" }, "documentId"],
  [{ documentId: good.documentId.toUpperCase() }, "documentId"],
  [{ documentId: `${good.documentId}\n` }, "documentId"],
  [{ documentId: good.documentId.replaceAll("-", "") }, "documentId"],
  [{ sequence: 0n }, "sequence"],
  [{ sequence: 9007199254740992n }, "sequence"],
  [{ version: 0n }, "version"],
  [{ version: 9007199254740992n }, "version"],
  [{ status: "draft" }, "status"],
  [{ status: "" }, "status"],
  [{ status: "usable\n" }, "status"],
  [{ sha256: new Uint8Array(31) }, "sha256"],
  [{ sha256: new Uint8Array(33) }, "sha256"],
])("%o is refused, and the member is named", (change, member) => {
  expect(faultsOf(change)).toEqual([`/items/3/${member}`]);
});

test("every fault of an item is named at once", () => {
  expect(faultsOf({ tenantId: "", sequence: 0n, sha256: new Uint8Array() })).toHaveLength(3);
});

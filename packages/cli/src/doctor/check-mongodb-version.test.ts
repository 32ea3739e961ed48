import { expect, test } from "vitest";
import { checkMongodbVersion } from "./check-mongodb-version.ts";

test.each([
  ["of a version with its patch", "8.0.37", "replica set rs0", "ok", "8.0.37, replica set rs0"],
  ["of a sharded cluster", "8.0.37", "sharded cluster", "ok", "8.0.37, sharded cluster"],
  ["of a version that lacks a patch", "8.0.24", "replica set rs0", "warning", "8.0.24, replica set rs0"],
  ["without replica set", "8.0.37", undefined, "broken", "8.0.37, no replica set"],
  ["of a series that is too old", "5.0.31", "replica set rs0", "broken", "5.0.31 is older than 6.0.0"],
])("a MongoDB %s has the status for it", (_name, version, name, status, finding) => {
  expect(checkMongodbVersion(version, name)).toMatchObject({ check: "mongodb", status, finding });
});

test("the warning names the patch release to install", () => {
  const remedy = expect.stringContaining("Upgrade to 8.0.37 or newer: CVE-2026-118383 lets");
  expect(checkMongodbVersion("8.0.24", "replica set rs0")).toMatchObject({ remedy });
});

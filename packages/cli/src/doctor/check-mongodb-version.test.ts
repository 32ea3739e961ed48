import { expect, test } from "vitest";
import { checkMongodbVersion } from "./check-mongodb-version.ts";

test.each([
  ["of a version with its patch", "ok", "8.0.37", "replica set rs0", "8.0.37, replica set rs0"],
  ["of a sharded cluster", "ok", "8.0.37", "sharded cluster", "8.0.37, sharded cluster"],
  ["of a version that lacks a patch", "warning", "8.0.24", "replica set rs0", "8.0.24, replica set rs0"],
  ["without replica set", "broken", "8.0.37", undefined, "8.0.37, no replica set"],
  ["of a series that is too old", "broken", "5.0.31", "replica set rs0", "5.0.31 is older than 6.0.0"],
])("the finding about a MongoDB %s has the status %s", (_, status, version, name, finding) => {
  expect(checkMongodbVersion(version, name)).toMatchObject({ check: "mongodb", status, finding });
});

test("the warning about a version that lacks a patch names the release to install", () => {
  const remedy = expect.stringContaining("Upgrade to 8.0.37 or newer: CVE-2026-118383 lets");
  expect(checkMongodbVersion("8.0.24", "replica set rs0")).toMatchObject({ remedy });
});

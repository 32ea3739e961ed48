import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { lacksPatch } from "./mongodb-patch.ts";

test.each([
  ["6.0.5", "6.0.30"],
  ["7.0.47", "7.0.48"],
  ["7.3.4", "8.0.37"],
  ["8.0.17", "8.0.37"],
  ["8.0.24", "8.0.37"],
  ["8.2.12", "8.3.16"],
  ["8.3.15", "8.3.16"],
  ["9.0.6", "9.0.7"],
])("MongoDB %s must be updated to %s", (version, needed) => {
  expect(lacksPatch(version)).toBe(needed);
});

test.each(["6.0.30", "7.0.48", "8.0.37", "8.0.38", "8.3.16", "9.0.7", "9.1.0"])(
  "MongoDB %s lacks no patch",
  (version) => {
    expect(lacksPatch(version)).toBe(undefined);
  },
);

const manifest = new URL("../../../../deploy/k8s/components/mongodb/replica-set.yaml", import.meta.url);

test("the manifest of the replica set pins a MongoDB that lacks no patch", async () => {
  const text = await readFile(manifest, "utf8");
  const version = /^ {2}version: ([\d.]+)$/m.exec(text)?.[1] ?? "none";
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(lacksPatch(version)).toBe(undefined);
});

test("the manifest of the replica set allows no compression with zlib", async () => {
  expect(await readFile(manifest, "utf8")).toMatch(/^ {4}net\.compression\.compressors: snappy,zstd$/m);
});

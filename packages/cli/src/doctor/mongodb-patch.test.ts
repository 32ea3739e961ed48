import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { lacksPatch } from "./mongodb-patch.ts";

test.each([
  ["6.0.5", "6.0.27"],
  ["6.0.27", undefined],
  ["7.0.27", "7.0.28"],
  ["7.0.28", undefined],
  ["7.3.4", "8.0.17"],
  ["8.0.4", "8.0.17"],
  ["8.0.17", undefined],
  ["8.2.2", "8.2.3"],
  ["8.3.0", undefined],
  ["9.0.0", undefined],
])("the patch release to which MongoDB %s must be updated is %s", (version, needed) => {
  expect(lacksPatch(version)).toBe(needed);
});

test("the manifests pin a MongoDB that lacks no patch, and allow no compression with zlib", async () => {
  const manifest = new URL("../../../../deploy/k8s/components/mongodb/replica-set.yaml", import.meta.url);
  const text = await readFile(manifest, "utf8");
  const version = /^ {2}version: ([\d.]+)$/m.exec(text)?.[1] ?? "none";
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(lacksPatch(version)).toBe(undefined);
  expect(text).toMatch(/^ {4}net\.compression\.compressors: snappy,zstd$/m);
});

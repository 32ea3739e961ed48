import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { lacksPatch } from "./mongodb-patch.ts";

test.each([
  ["6.0.5", "6.0.30"],
  ["6.0.30", undefined],
  ["7.0.47", "7.0.48"],
  ["7.0.48", undefined],
  ["7.3.4", "8.0.37"],
  ["8.0.17", "8.0.37"],
  ["8.0.24", "8.0.37"],
  ["8.0.37", undefined],
  ["8.0.38", undefined],
  ["8.2.12", "8.3.16"],
  ["8.3.15", "8.3.16"],
  ["8.3.16", undefined],
  ["9.0.6", "9.0.7"],
  ["9.0.7", undefined],
  ["9.1.0", undefined],
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

import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectDir } from "../paths.ts";
import { type BinaryName, binaries } from "./binaries.ts";

/** The version on which tests run, as its folder in the cache names it. */
function testedVersion(name: BinaryName): string {
  return /[\d.]+$/.exec(binaries[name].folder)?.[0] ?? "none";
}

const read = (path: string) => readFile(join(projectDir, path), "utf8");

test("the Kubernetes manifests name the minor version of nats-server that tests run on", async () => {
  const minor = testedVersion("nats-server").split(".").slice(0, 2).join(".");
  const cluster = await read("deploy/k8s/components/nats/cluster.yaml");
  const labels = [...cluster.matchAll(/app\.kubernetes\.io\/version: "(.+)"/g)].map(([, version]) => version);
  expect(new Set(labels)).toEqual(new Set([minor]));
  const overlays = globSync("deploy/k8s/{overlays,tests}/*/kustomization.yaml", { cwd: projectDir });
  const texts = await Promise.all(overlays.map(read));
  const tags = texts.flatMap((text) => /\{ name: nats,.* newTag: "?([\d.]+)/.exec(text)?.[1] ?? []);
  expect(tags.length).toBeGreaterThan(1);
  expect(new Set(tags)).toEqual(new Set([minor]));
});

test.each([
  ["mongod", "MongoDB 6.0"],
  ["nats-server", "nats-server"],
] as const)("docs/kubernetes.md names as tested the version of %s that tests run on", async (name, server) => {
  const row = new RegExp(`^\\| ${server} +\\|(.+)\\|$`, "m").exec(await read("docs/kubernetes.md"))?.[1] ?? "";
  const [, tested] = row.split("|").map((cell) => cell.trim());
  expect(tested).toBe(testedVersion(name));
});

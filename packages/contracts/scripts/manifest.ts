import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const manifest = join(import.meta.dirname, "../package.json");
const original = join(import.meta.dirname, "../.package.original.json");

interface Manifest {
  readonly publishConfig: object;
  readonly scripts: object;
}

export function readManifest(): Manifest {
  return JSON.parse(readFileSync(manifest, "utf8"));
}

export function writeManifest(value: object): void {
  writeFileSync(manifest, `${JSON.stringify(value, null, 2)}\n`);
}

export function setAside(): void {
  copyFileSync(manifest, original);
}

export function putBack(): void {
  if (existsSync(original)) renameSync(original, manifest);
}

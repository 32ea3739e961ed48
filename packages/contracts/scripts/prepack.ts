/**
 * Builds `dist/` and makes `package.json` export it, because Node runs no TypeScript below
 * node_modules. `postpack` restores the `package.json` that exports `gen/` and `src/` unbuilt.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readManifest, setAside, writeManifest } from "./manifest.ts";

const root = join(import.meta.dirname, "..");
rmSync(join(root, "dist"), { recursive: true, force: true });
const { status } = spawnSync("tsc", ["--project", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (status !== 0) throw new Error("packages/contracts cannot be built");
setAside();
const { publishConfig, scripts: _, ...manifest } = readManifest();
writeManifest({ ...manifest, ...publishConfig });

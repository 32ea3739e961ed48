import { join, resolve } from "node:path";

/** The folder with the root package.json. */
export const projectDir = resolve(import.meta.dirname, "../../..");

/** Everything the dev stack keeps: data, logs, binaries, dev.json. Not in git. */
export const stateDir = join(projectDir, ".vidimus");

/** Downloaded binaries, one folder a version. Shared by dev stacks and test runs, so `--fresh` must leave it alone. */
export const binDir = join(stateDir, "bin");

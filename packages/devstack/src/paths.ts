import { join, resolve } from "node:path";

/** The folder with the root package.json. */
export const projectDir = resolve(import.meta.dirname, "../../..");

/** Data, keys, logs, binaries and dev.json of the dev stack by default. Ignored by git. */
export const stateDir = join(projectDir, ".vidimus");

/** Downloads, a folder for each program and version. Test runs share it, so `--fresh` keeps it. */
export const binDir = join(stateDir, "bin");

/**
 * Where Node caches compiled code, with its types stripped, for the next process of the dev stack
 * or of a test, which shortens the start of a service by a third to a half. The folder may be
 * deleted at any time.
 */
export const compileCacheDir = join(stateDir, "compile-cache");

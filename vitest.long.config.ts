import { defineConfig } from "vitest/config";
import { compileCacheDir } from "./packages/devstack/src/paths.ts";

process.env["NODE_COMPILE_CACHE"] ??= compileCacheDir;

/** Fault matrices and large runs: minutes, not seconds. `npm run test:long` */
export default defineConfig({
  test: {
    include: ["**/*.long.test.ts"],
    globalSetup: ["packages/devstack/src/testing/global-setup.ts"],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // Some files measure times, which a file beside them would lengthen.
    fileParallelism: false,
  },
});

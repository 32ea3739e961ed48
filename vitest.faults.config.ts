import { defineConfig } from "vitest/config";
import { compileCacheDir } from "./packages/devstack/src/paths.ts";
import { LongestFirst } from "./tests/support/longest-first.ts";

process.env["NODE_COMPILE_CACHE"] ??= compileCacheDir;

/**
 * The fault matrix, end to end: processes that are killed, stopped or restarted, and servers that
 * are away when they are needed. `npm run test:faults`
 */
export default defineConfig({
  test: {
    include: ["tests/faults/**/*.test.ts"],
    globalSetup: ["packages/devstack/src/testing/global-setup.ts"],
    maxWorkers: "100%",
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

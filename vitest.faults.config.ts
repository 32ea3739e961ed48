import { defineConfig } from "vitest/config";
import { compileCacheDir } from "./packages/devstack/src/paths.ts";
import { LongestFirst } from "./tests/support/longest-first.ts";

process.env["NODE_COMPILE_CACHE"] ??= compileCacheDir;

const test = {
  globalSetup: ["packages/devstack/src/testing/global-setup.ts"],
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

/** Files that measure the time of every request of a load, so no other file may run beside them. */
export const timed = ["tests/faults/replicas.test.ts"];

/**
 * The fault matrix, end to end: processes that are killed, stopped or restarted, and servers that
 * are away when they are needed. `npm run test:faults`
 */
export default defineConfig({
  test: {
    maxWorkers: "100%",
    projects: [
      { test: { ...test, name: "faults-timed", include: timed, sequence: { groupOrder: 0 } } },
      {
        test: {
          ...test,
          name: "faults",
          include: ["tests/faults/**/*.test.ts"],
          exclude: [...timed, "**/*.long.test.ts"],
          sequence: { groupOrder: 1 },
        },
      },
    ],
    sequence: { sequencer: LongestFirst },
  },
});

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { compileCacheDir } from "./packages/devstack/src/paths.ts";
import { LongestFirst } from "./tests/support/longest-first.ts";

process.env["NODE_COMPILE_CACHE"] ??= compileCacheDir;

/**
 * End-to-end tests that call doors in plaintext, or start a service of their own without
 * certificates.
 */
export const plaintextOnly = [
  "access/two-doors",
  "spec/8-limits",
  "phrases/budget",
  "phrases/import-neighbours",
  "operations/restore-drill",
];
const withCertificates = process.env["VIDIMUS_TEST_MTLS"] === "on";

/**
 * A worker loads a module once for all files of a project, which saves a quarter of the CPU of `npm
 * test`.
 */
const isolate = false;

/**
 * Unit tests stand beside their source; what needs mongod or nats-server stands in a test/ folder;
 * tests/ is end to end. tests/faults/, tests/console/ and `*.long.test.ts` have configurations of
 * their own.
 */
export default defineConfig({
  test: {
    // A file waits for a fifth of its time, mostly for databases and timeouts. So three workers on
    // two cores take 8 minutes, where two take almost 10.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          isolate,
          testTimeout: 60_000,
          include: ["{packages,services}/*/src/**/*.test.ts", "scripts/**/*.test.ts"],
        },
      },
      {
        test: {
          name: "integration",
          isolate,
          include: ["{packages,services}/*/test/**/*.test.ts"],
          exclude: ["**/*.long.test.ts"],
          globalSetup: ["packages/devstack/src/testing/global-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "e2e",
          isolate,
          include: ["tests/**/*.test.ts"],
          exclude: [
            "**/*.long.test.ts",
            "tests/faults/**",
            "tests/console/**",
            ...(withCertificates ? plaintextOnly.map((name) => `tests/${name}.test.ts`) : []),
          ],
          globalSetup: ["packages/devstack/src/testing/global-setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

import { defineConfig } from "vitest/config";

/** Tests of what people see in a browser: `npm run test:browser`. Fetches a Chromium once. */
export default defineConfig({
  test: {
    include: ["tests/console/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});

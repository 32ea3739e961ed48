import { execFileSync } from "node:child_process";
import { getPriority } from "node:os";
import { expect, test } from "vitest";

/**
 * Prints the name of each thread, and by how much its priority is lower than that of the process.
 */
const program = `
  import { readdirSync, readFileSync } from "node:fs";
  import { getPriority } from "node:os";
  import { lowerHelpers } from ${JSON.stringify(new URL("lower-helpers.ts", import.meta.url).href)};
  lowerHelpers();
  const threads = readdirSync("/proc/self/task").map((id) => {
    const name = readFileSync("/proc/self/task/" + id + "/comm", "latin1").trim();
    return { name, lowered: getPriority(Number(id)) - getPriority() };
  });
  console.log(JSON.stringify(threads));
`;

interface Thread {
  readonly name: string;
  readonly lowered: number;
}

test.runIf(process.platform === "linux").each([
  [0, 10],
  [15, 4],
])("with lowerHelpers only V8's helper threads have a lower priority, in a process of niceness %i", (own, lowered) => {
  const by = String(own - getPriority());
  const argv = ["-n", by, process.execPath, "--input-type=module", "--eval", program];
  const threads = JSON.parse(execFileSync("nice", argv, { encoding: "utf8" })) as Thread[];
  const { helpers = [], others = [] } = Object.groupBy(threads, ({ name }) =>
    name.startsWith("node-V8Worker") ? "helpers" : "others",
  );
  expect(helpers.length).toBeGreaterThan(0);
  expect(new Set(helpers.map((helper) => helper.lowered))).toEqual(new Set([lowered]));
  expect(new Set(others.map((other) => other.lowered))).toEqual(new Set([0]));
});

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { helperNiceness } from "./lower-helpers.ts";

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

test.runIf(process.platform === "linux")("V8's helpers run at a lower priority than all other threads", () => {
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  const threads = JSON.parse(printed) as Thread[];
  const { helpers = [], others = [] } = Object.groupBy(threads, ({ name }) =>
    name.startsWith("node-V8Worker") ? "helpers" : "others",
  );
  expect(helpers.length).toBeGreaterThan(0);
  expect(new Set(helpers.map(({ lowered }) => lowered))).toEqual(new Set([helperNiceness]));
  expect(new Set(others.map(({ lowered }) => lowered))).toEqual(new Set([0]));
});

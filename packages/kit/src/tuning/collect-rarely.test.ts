import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** Makes 600 buffers of 1 MiB, of which 40 are in use at a time, beside a heap of 30 MB. */
const program = `
  import { setImmediate as turn } from "node:timers/promises";
  import { collectRarely } from ${JSON.stringify(new URL("collect-rarely.ts", import.meta.url).href)};
  if (process.argv[1] === "rarely") collectRarely();
  const heap = Array.from({ length: 300_000 }, (_, n) => ({ n, text: "x" + n }));
  const used = [];
  for (let n = 0; n < 600; n += 1) {
    used[n % 40] = Buffer.alloc(1024 * 1024, heap.length % 7);
    await turn();
  }
`;
/**
 * Without helper threads and incremental marking the number of collections does not depend on how
 * busy the machine is.
 */
const flags = ["--trace-gc", "--single-threaded-gc", "--no-incremental-marking"];

/** How often the old objects of the program were collected. */
function collections(...args: string[]): number {
  const options = [...flags, "--input-type=module", "--eval", program];
  const trace = execFileSync(process.execPath, [...options, ...args], { encoding: "utf8" });
  return trace.split("Mark-Compact").length - 1;
}

test("with collectRarely, 600 MiB of buffers that come and go cause at most two collections of old objects", () => {
  expect(collections()).toBeGreaterThanOrEqual(4);
  expect(collections("rarely")).toBeLessThanOrEqual(2);
});

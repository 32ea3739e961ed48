import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/**
 * Fills 60 MB of the heap, drops the objects, and collects garbage five times within half a second.
 */
const program = `
  import { setTimeout as pause } from "node:timers/promises";
  import { releasePages } from ${JSON.stringify(new URL("release-pages.ts", import.meta.url).href)};
  if (process.argv[1] === "release") releasePages();
  let heap = Array.from({ length: 500_000 }, (_, n) => ({ n, text: "x" + n }));
  heap = heap.length;
  for (let round = 0; round < 5; round += 1) {
    gc();
    await pause(100);
  }
`;
const flags = ["--expose-gc", "--trace-gc", "--max-semi-space-size=8"];

/** MB of empty pages that V8 kept at the last collection. */
function pooledMb(...args: string[]): number {
  const options = [...flags, "--input-type=module", "--eval", program];
  const trace = execFileSync(process.execPath, [...options, ...args], { encoding: "utf8" });
  return Number(Array.from(trace.matchAll(/pooled: ([\d.]+) MB/g)).at(-1)?.[1]);
}

test("with releasePages V8 keeps less than 10 MB of emptied pages, instead of more than 20 MB", () => {
  expect(pooledMb()).toBeGreaterThan(20);
  expect(pooledMb("release")).toBeLessThan(10);
});

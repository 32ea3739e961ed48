import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const start = `
  import { getHeapStatistics } from "node:v8";
  import { keepMemorySmall } from ${JSON.stringify(new URL("keep-memory-small.ts", import.meta.url).href)};
  if (process.argv[1] === "small") keepMemorySmall();
`;

/** Keeps 60,000 objects, replaces each of them 50 times, and prints the most MiB of the heap. */
const replaceObjects = `
  const kept = [];
  let most = 0;
  for (let n = 0; n < 3_000_000; n += 1) {
    kept[n % 60_000] = { n, text: "row " + n, list: [n] };
    if (n % 10_000 === 0) most = Math.max(most, process.memoryUsage().heapTotal / 1024 / 1024);
  }
  console.log(most);
`;

/**
 * Calls 300 functions 600 times each, and prints the most MiB that V8 held beside its heap: once
 * these are more than 8, or after the time in `process.argv[2]`.
 */
const callFunctions = `
  const text = "let sum = 0; for (const { n, text } of rows) sum += n * text.length; return sum + ";
  const functions = Array.from({ length: 300 }, (_, n) => new Function("rows", text + n));
  for (let call = 0; call < 600; call += 1) for (const each of functions) each([{ n: call, text: "row" }]);
  const until = performance.now() + Number(process.argv[2]);
  const most = () => getHeapStatistics().peak_malloced_memory / 1024 / 1024;
  const timer = setInterval(() => {
    if (most() < 8 && performance.now() < until) return;
    clearInterval(timer);
    console.log(most());
  }, 20);
`;

function mostMiB(program: string, ...args: string[]): number {
  const options = ["--max-semi-space-size=1", "--input-type=module", "--eval", start + program];
  return Number(execFileSync(process.execPath, [...options, ...args], { encoding: "utf8" }));
}

test("keepMemorySmall keeps the heap below 35 MiB, not above 45, while 60,000 objects are replaced", () => {
  expect(mostMiB(replaceObjects)).toBeGreaterThan(45);
  expect(mostMiB(replaceObjects, "small")).toBeLessThan(35);
});

test("with keepMemorySmall functions are compiled with less than 2 MiB of working memory", () => {
  expect(mostMiB(callFunctions, "as by default", "30000")).toBeGreaterThan(8);
  expect(mostMiB(callFunctions, "small", "500")).toBeLessThan(2);
});

import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openDictionary } from "./support/dictionary.ts";

const million = 1_000_000;
const rowsPerImport = 50_000;
const growthMax = 64 * 1024 * 1024;
const measured = ["gateway", "phrases"] as const;

let stack: ProcessConstellation;
let demo: ReturnType<typeof openDictionary>;

beforeAll(async () => {
  stack = await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" });
  demo = openDictionary(stack.dev.gateway, stack.dev.tenants[0]!.apiKey);
  await importRows("en", 0);
  for (let first = 0; first < million; first += rowsPerImport) await importRows("sv", first);
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

async function importRows(language: string, first: number): Promise<void> {
  const rows = Array.from({ length: rowsPerImport }, (_, n) => `${language},ord nummer ${first + n},"en, beskrivning"`);
  const response = await demo.import(["language,phrase,description", ...rows].join("\n"));
  expect(response.status).toBe(200);
}

async function rss(name: string): Promise<number> {
  const status = await readFile(`/proc/${(await stack.current()).pids[name]}/status`, "latin1");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/**
 * New processes, since memory left by imports would hide that of an export; warmed up by 50,000
 * rows.
 */
async function fresh(format: string, encoding: string): Promise<void> {
  const before = (await stack.current()).pids;
  for (const name of measured) process.kill(before[name]!, "SIGKILL");
  await vi.waitFor(
    async () => {
      const now = (await stack.current()).pids;
      for (const name of measured) expect(now[name]).not.toBe(before[name]);
      expect((await demo.get("", {}, "HEAD")).status).toBe(200);
    },
    { timeout: 30_000, interval: 100 },
  );
  await (await demo.get(`?language=en&format=${format}`, { "accept-encoding": encoding })).text();
}

/** Reads an answer piece by piece, and counts the occurrences of a text. */
async function count(response: Response, needle: string, onPiece: (bytes: number) => Promise<void>): Promise<number> {
  let found = 0;
  let rest = "";
  let bytes = 0;
  for await (const piece of response.body!) {
    bytes += piece.length;
    const text = rest + Buffer.from(piece).toString("latin1");
    found += text.split(needle).length - 1;
    rest = text.slice(text.lastIndexOf(needle) + needle.length).slice(-(needle.length - 1));
    await onPiece(bytes);
  }
  return found;
}

/** The largest growth of the RSS of each process during `work`, in bytes. */
async function growthDuring(work: () => Promise<void>): Promise<{ name: string; bytes: number }[]> {
  const baseline = await Promise.all(measured.map(rss));
  const peak = [...baseline];
  const done = new AbortController();
  const watch = async () => {
    while (!done.signal.aborted) {
      for (const [index, now] of (await Promise.all(measured.map(rss))).entries()) {
        peak[index] = Math.max(peak[index]!, now);
      }
      await pause(50);
    }
  };
  await Promise.all([watch(), work().finally(() => done.abort())]);
  return measured.map((name, index) => ({ name, bytes: peak[index]! - baseline[index]! }));
}

test.for([
  { format: "csv", encoding: "identity", needle: "\r\n", expected: million + 1, pauseMs: 0 },
  { format: "json", encoding: "identity", needle: '{"id":', expected: million, pauseMs: 0 },
  { format: "csv", encoding: "gzip", needle: "\r\n", expected: million + 1, pauseMs: 0 },
  { format: "csv", encoding: "br", needle: "\r\n", expected: million + 1, pauseMs: 0 },
  { format: "csv", encoding: "identity", needle: "\r\n", expected: million + 1, pauseMs: 10_000 },
])("a million phrases as $format ($encoding, pause $pauseMs ms): RSS grows by at most 64 MB", async (run) => {
  await fresh(run.format, run.encoding);
  let paused = run.pauseMs === 0;
  const growth = await growthDuring(async () => {
    const response = await demo.get(`?language=sv&format=${run.format}`, { "accept-encoding": run.encoding });
    const found = await count(response, run.needle, async (bytes) => {
      if (paused || bytes < 1_000_000) return;
      paused = true;
      await pause(run.pauseMs);
    });
    expect(found).toBe(run.expected);
  });
  console.log(run, growth.map(({ name, bytes }) => `${name} ${Math.round(bytes / 2 ** 20)} MiB`).join(", "));
  for (const { name, bytes } of growth) expect(bytes, name).toBeLessThanOrEqual(growthMax);
});

import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openDictionary } from "../support/dictionary.ts";

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
 * Starts new processes, because memory left by imports would hide that of an export. An export of
 * 50,000 rows warms them up.
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
])("a $format export of a million phrases ($encoding, pause $pauseMs ms) costs no process over 64 MB", async (run) => {
  await fresh(run.format, run.encoding);
  let paused = run.pauseMs === 0;
  const growth = await growthDuring(async () => {
    const response = await demo.get(`?language=sv&format=${run.format}`, { "accept-encoding": run.encoding });
    const found = await count(response, run.needle, async (bytes) => {
      if (paused || bytes < 1_000_000) return;
      paused = true;
      // A reader may stand still for up to ten seconds before it is cut off.
      await pause(run.pauseMs);
    });
    expect(found).toBe(run.expected);
  });
  console.log(run, growth.map(({ name, bytes }) => `${name} ${Math.round(bytes / 2 ** 20)} MiB`).join(", "));
  for (const { name, bytes } of growth) expect(bytes, name).toBeLessThanOrEqual(growthMax);
});

/** Number of phrases with known ids that are renamed during an export. */
const movers = 10_000;
const moverId = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
/** The new text of a phrase, by turns at the beginning and at the end of the order. */
const renamed = (n: number) => `${n % 2 ? "a" : "ö"} ${n}`;

/** Renames one phrase after the other, every 10 ms, until stopped. */
function renameOneByOne() {
  const stopped = new AbortController();
  const counts = { sent: 0, done: 0 };
  const work = async () => {
    while (!stopped.signal.aborted && counts.sent < movers) {
      const n = counts.sent++;
      await Promise.all([demo.put({ id: moverId(n), language: "sv", phrase: renamed(n) }), pause(10)]);
      counts.done += 1;
    }
  };
  const ended = work();
  return {
    counts,
    stop: async () => {
      stopped.abort();
      await ended;
    },
  };
}

test("an export of a million phrases shows one moment, though a phrase is renamed every 10 ms", async () => {
  const rows = Array.from({ length: movers }, (_, n) => `${moverId(n)},sv,m ${n}`);
  expect((await demo.import(["id,language,phrase", ...rows].join("\n"))).status).toBe(200);
  await fresh("csv", "identity");
  const renames = renameOneByOne();
  await vi.waitFor(() => expect(renames.counts.done).toBeGreaterThan(10));
  const names = new Map<string, string>();
  let lines = 0;
  let range = { from: 0, to: 0 };
  const growth = await growthDuring(async () => {
    const from = renames.counts.done;
    const response = await demo.get("?language=sv&format=csv", { "accept-encoding": "identity" });
    range = { from, to: renames.counts.sent };
    for await (const line of createInterface(Readable.fromWeb(response.body as ReadableStream))) {
      lines += 1;
      const [id = "", , name = ""] = line.split(",");
      if (!id.startsWith("00000000-0000-4000-8000-")) continue;
      expect(names.has(id)).toBe(false);
      names.set(id, name);
    }
  });
  await renames.stop();
  expect(lines).toBe(1 + million + movers);
  const shown = Array.from({ length: movers }, (_, n) => names.get(moverId(n)) === renamed(n));
  const moment = shown.indexOf(false);
  expect(moment).toBeGreaterThanOrEqual(range.from);
  expect(moment).toBeLessThanOrEqual(range.to);
  expect(shown.slice(moment)).not.toContain(true);
  expect(renames.counts.done).toBeGreaterThan(range.to + 100);
  console.log(`${renames.counts.done} renames`, growth);
  for (const { name, bytes } of growth) expect(bytes, name).toBeLessThanOrEqual(growthMax);
});

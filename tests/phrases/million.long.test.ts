import { PhraseFormat, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { profiled } from "@vidimus/devstack/testing/profile";
import { encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import type { RpcClient } from "@vidimus/kit/rpc/client/client";
import { type Document, MongoClient } from "mongodb";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Browser } from "../../packages/console/test/support/browser.ts";
import { openDictionary, type PhraseJson } from "../support/dictionary.ts";

const million = 1_000_000;
const rowsPerImport = 50_000;
const growthMax = 64 * 1024 * 1024;
const measured = ["gateway", "phrases"] as const;
/** Most phrases that a page of a search examines. */
const examinedMax = 20_000;
/** The longest time of a page; the console gives a call 5 seconds. */
const pageMsMax = 2_000;

/**
 * Rows whose text also has the word "nål": the first, one in the middle, the last, and those on
 * both sides of an end of a search's page, which examines 20,000 phrases.
 */
const planted = [0, 9_999, 10_000, 19_999, 20_000, 500_000, million - 1];
const textOf = (row: number) => `ord nummer ${String(row).padStart(6, "0")}${planted.includes(row) ? " nål" : ""}`;

let stack: ProcessConstellation;
let demo: ReturnType<typeof openDictionary>;

beforeAll(async () => {
  stack = await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" }, {}, { console: true });
  demo = openDictionary(stack.dev.gateway, stack.dev.tenants[0]!.apiKey);
  await importRows("en", 0);
  for (let first = 0; first < million; first += rowsPerImport) await importRows("sv", first);
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

async function importRows(language: string, first: number): Promise<void> {
  const rows = Array.from({ length: rowsPerImport }, (_, n) => `${language},${textOf(first + n)},"en, beskrivning"`);
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

/**
 * Runs `work`, prints `what` it is and its result, and holds the growth of each process to 64 MiB.
 */
async function withinMemory(what: unknown, work: () => Promise<unknown>): Promise<void> {
  let result: unknown;
  const growth = await growthDuring(async () => void (result = await work()));
  console.log(
    what,
    result ?? "",
    growth.map(({ name, bytes }) => `${name} ${Math.round(bytes / 2 ** 20)} MiB`).join(", "),
  );
  for (const { name, bytes } of growth) expect(bytes, name).toBeLessThanOrEqual(growthMax);
}

test.for([
  { format: "csv", encoding: "identity", needle: "\r\n", expected: million + 1, pauseMs: 0 },
  { format: "json", encoding: "identity", needle: '{"id":', expected: million, pauseMs: 0 },
  { format: "csv", encoding: "gzip", needle: "\r\n", expected: million + 1, pauseMs: 0 },
  { format: "csv", encoding: "br", needle: "\r\n", expected: million + 1, pauseMs: 0 },
  { format: "csv", encoding: "identity", needle: "\r\n", expected: million + 1, pauseMs: 10_000 },
])("a $format export of a million rows ($encoding, pause $pauseMs ms) takes at most 64 MiB a process", async (run) => {
  await fresh(run.format, run.encoding);
  let paused = run.pauseMs === 0;
  await withinMemory(run, async () => {
    const response = await demo.get(`?language=sv&format=${run.format}`, { "accept-encoding": run.encoding });
    const found = await count(response, run.needle, async (bytes) => {
      if (paused || bytes < 1_000_000) return;
      paused = true;
      // A reader may stand still for up to ten seconds before it is cut off.
      await pause(run.pauseMs);
    });
    expect(found).toBe(run.expected);
  });
});

describe("pages of a million phrases, and of 50,000 in another language", () => {
  const opened = new AsyncDisposableStack();
  let phrases: RpcClient<typeof PhraseService>;
  let mongo: MongoClient;

  beforeAll(async () => {
    await fresh("json", "identity");
    phrases = opened.use(openDevClient(stack.dev, "phrases", PhraseService));
    mongo = opened.adopt(await new MongoClient(stack.dev.mongodb).connect(), (client) => client.close());
  });
  afterAll(() => opened.disposeAsync());

  interface Asked {
    readonly language?: string;
    readonly contains?: string;
  }

  const size = rowsPerImport + million;
  const keyOf = ({ language, phrase }: Pick<PhraseJson, "language" | "phrase">) => `${language} ${phrase}`;
  /** Language and text of the phrase at a position of the whole dictionary. */
  const at = (position: number) =>
    position < rowsPerImport
      ? { language: "en", phrase: textOf(position) }
      : { language: "sv", phrase: textOf(position - rowsPerImport) };
  const keysFrom = (position: number, count: number) =>
    Array.from({ length: Math.min(count, size - position) }, (_, n) => keyOf(at(position + n)));
  /** Token of the page that begins at a position; "" for the first of a request. */
  const tokenFor = (position: number, { language }: Asked = {}) => {
    if (position === (language === "sv" ? rowsPerImport : 0)) return "";
    const before = at(position - 1);
    return encodeOpaqueToken([before.language, before.phrase]);
  };

  /** Fails when the page takes longer than `pageMsMax`. */
  async function page(asked: Asked, limit: number, pageToken: string) {
    const request = { tenantId: stack.dev.tenants[0]!.id, format: PhraseFormat.JSON, limit, pageToken, ...asked };
    const answers: { keys: string[]; next: string }[] = [];
    for await (const answer of phrases.listPhrases(request, { timeoutMs: pageMsMax })) {
      const rows = JSON.parse(Buffer.from(answer.content).toString()) as PhraseJson[];
      answers.push({ keys: rows.map(keyOf), next: answer.nextPageToken });
    }
    expect(answers).toHaveLength(1);
    return answers[0]!;
  }

  /**
   * Follows a request to its last page. Returns the time of the slowest page, and how many there
   * are.
   */
  async function follow(asked: Asked, limit: number, see: (keys: string[]) => void) {
    let [pages, slowestMs, token] = [0, 0, ""];
    do {
      const started = performance.now();
      const { keys, next } = await page(asked, limit, token);
      slowestMs = Math.max(slowestMs, performance.now() - started);
      see(keys);
      pages += 1;
      token = next;
    } while (token !== "");
    return { pages, slowestMs: Math.round(slowestMs) };
  }

  /** Runs `work`, and returns with its result what MongoDB read of the phrases meanwhile. */
  const reads = <Result>(work: () => Promise<Result>) =>
    profiled(mongo.db("vidimus_phrases"), { ns: "vidimus_phrases.phrases" }, work);

  /**
   * No command may sort, read more rows than those of a page, or more keys than a page examines.
   */
  function checkReads(entries: readonly Document[], limit: number): void {
    expect(entries.length).toBeGreaterThan(0);
    for (const { command, keysExamined, docsExamined, hasSortStage = false } of entries) {
      expect(hasSortStage).toBe(false);
      expect(docsExamined).toBeLessThanOrEqual(limit + 1);
      // A page is one row longer to see whether there is another, and MongoDB reads a key ahead in
      // each range of the index.
      expect(keysExamined).toBeLessThanOrEqual("pipeline" in command ? examinedMax + 1 : limit + 3);
    }
  }

  test("each hold the next 200 phrases in order, and none of their database commands reads over 201", async () => {
    await withinMemory("all pages", async () => {
      let seen = 0;
      const { result, entries } = await reads(() =>
        follow({}, 200, (keys) => {
          expect(keys).toEqual(keysFrom(seen, 200));
          seen += keys.length;
        }),
      );
      expect([seen, result.pages]).toEqual([size, size / 200]);
      checkReads(entries, 200);
      return result;
    });
  });

  test.for<Asked>([{}, { language: "sv" }, { contains: "NUMMER" }, { language: "sv", contains: "NUMMER" }])(
    "asked for with %o hold the next phrases, both early and late in the order",
    async (asked) => {
      const last = size - 100;
      const starts = [...(asked.language ? [] : [0, rowsPerImport - 100]), rowsPerImport, 950_000, last];
      for (const start of starts) {
        const started = performance.now();
        const { result, entries } = await reads(() => page(asked, 200, tokenFor(start, asked)));
        console.log(asked, `from ${start}: ${Math.round(performance.now() - started)} ms`);
        expect(result).toEqual({
          keys: keysFrom(start, 200),
          next: start === last ? "" : tokenFor(start + 200),
        });
        checkReads(entries, 200);
      }
    },
  );

  test.for([
    { contains: "NÅL", language: "", where: "both languages", limit: 50 },
    { contains: "NÅL", language: "sv", where: "sv", limit: 1 },
    { contains: "saknas", language: "", where: "both languages", limit: 50 },
    { contains: "saknas", language: "sv", where: "sv", limit: 50 },
  ])("of a search for $contains in $where, $limit a page, find each match once, in order", async (run) => {
    const { limit, where: _where, ...asked } = run;
    const rows = asked.contains === "saknas" ? [] : planted;
    const english = asked.language === "" ? rows.filter((row) => row < rowsPerImport) : [];
    const expected = [...english, ...rows.map((row) => row + rowsPerImport)].map((position) => keyOf(at(position)));
    await withinMemory("search", async () => {
      const found: string[] = [];
      const { result, entries } = await reads(() => follow(asked, limit, (keys) => found.push(...keys)));
      expect(found).toEqual(expected);
      // Each page but the last is full of matches, or has examined as many phrases as it may.
      expect(result.pages).toBeLessThanOrEqual(size / examinedMax + expected.length / limit + 1);
      checkReads(entries, limit);
      return { ...run, ...result };
    });
  });

  describe("in the console", () => {
    const ada = new Browser();
    let base: string;
    let slowestMs = 0;

    beforeAll(async () => {
      const link = new URL((await makeConsoleLink(stack.dev))!);
      await ada.submit(new URL("/sign-in/confirm", link), { code: link.hash.replace("#code=", "") });
      base = new URL(`/t/${stack.dev.tenants[0]!.id}/phrases`, link).href;
    });

    async function open(url: URL | string) {
      const started = performance.now();
      const { status, text } = await ada.open(url);
      const ms = performance.now() - started;
      slowestMs = Math.max(slowestMs, Math.round(ms));
      expect([status, ms < pageMsMax]).toEqual([200, true]);
      const decoded = text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
      const next = /href="([^"]*)" rel="next"/.exec(decoded)?.[1];
      return {
        caption: /<caption>\s*(.*?)\s*<\/caption>/.exec(decoded)?.[1],
        phrases: Array.from(decoded.matchAll(/dir="auto">(ord [^<]*)</g), ([, phrase]) => phrase!),
        saysToGoOn: decoded.includes("Go on with Next"),
        next: next === undefined ? undefined : new URL(next, base),
      };
    }

    test.for(["?", "?contains=NUMMER&", "?language=sv&", "?language=sv&contains=NUMMER&"])(
      "for %s show phrases numbered in the caption, early and late in the order",
      async (query) => {
        const begin = query.includes("language") ? rowsPerImport : 0;
        const textsFrom = (position: number) =>
          Array.from({ length: Math.min(50, size - position) }, (_, n) => at(position + n).phrase);
        const first = await open(base + query);
        expect([first.caption, first.phrases]).toEqual([
          "Phrases 1 to 50, by language and text; there are more",
          textsFrom(begin),
        ]);
        const second = await open(first.next!);
        expect(second.caption).toBe("Phrases 51 to 100, by language and text; there are more");
        expect(second.phrases).toEqual(textsFrom(begin + 50));
        for (const [start, more] of [
          [950_000, "; there are more"],
          [size - 40, ""],
        ] as const) {
          const from = start - begin + 1;
          const far = await open(
            `${base}${query}${new URLSearchParams({ page: tokenFor(start), from: String(from) })}`,
          );
          const phrases = textsFrom(start);
          expect(far.phrases).toEqual(phrases);
          expect(far.caption).toBe(`Phrases ${from} to ${from + phrases.length - 1}, by language and text${more}`);
          expect(far.next !== undefined).toBe(more !== "");
        }
        console.log(`the console's slowest page so far: ${slowestMs} ms`);
      },
    );

    test("of a search with few matches lead by Next to every match, and say to go on when they are empty", async () => {
      await withinMemory("the console's search", async () => {
        const found: string[] = [];
        let next: URL | undefined = new URL(`${base}?contains=N%C3%85L`);
        let pages = 0;
        while (next) {
          const shown = await open(next);
          expect(shown.saysToGoOn).toBe(shown.phrases.length === 0);
          found.push(...shown.phrases);
          pages += 1;
          ({ next } = shown);
        }
        expect(found).toEqual([...planted.filter((row) => row < rowsPerImport), ...planted].map(textOf));
        return { pages, slowestMs };
      });
    });
  });
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

test("an export of a million phrases shows their state at one moment, though some are renamed meanwhile", async () => {
  const rows = Array.from({ length: movers }, (_, n) => `${moverId(n)},sv,m ${n}`);
  expect((await demo.import(["id,language,phrase", ...rows].join("\n"))).status).toBe(200);
  await fresh("csv", "identity");
  const renames = renameOneByOne();
  await vi.waitFor(() => expect(renames.counts.done).toBeGreaterThan(10));
  const names = new Map<string, string>();
  let lines = 0;
  let range = { from: 0, to: 0 };
  await withinMemory("an export during renames", async () => {
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
});

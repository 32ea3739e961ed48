/**
 * Imports of one tenant do not hold up another tenant's calls, and the memory of phrases is
 * bounded.
 */
import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { PhraseFormat, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDictionary } from "../support/dictionary.ts";

const importsAtOnce = 4;
/**
 * Allows for other work on the machine. Without turns, four of these imports would block all calls
 * for 4 to 10 s.
 */
const answerMsMax = 2_000;
/** Bytes of memory that phrases may have beyond those of the idle process. */
const growthMax = 160 * 1024 * 1024;
const rowsMax = 50_000;

let stack: ProcessConstellation;
let phrases: RpcClient<typeof PhraseService>;
let attacker: ReturnType<typeof openDictionary>;
let neighbour: ReturnType<typeof openDictionary>;
let idleRss: number;

beforeAll(async () => {
  stack = await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" });
  const { gateway, grpc, tenants } = stack.dev;
  attacker = openDictionary(gateway, tenants[0]!.apiKey);
  neighbour = openDictionary(gateway, tenants[1]!.apiKey);
  phrases = openRpcClient(PhraseService, { target: grpc.phrases, defaultTimeoutMs: 60_000 });
  await neighbour.put({ language: "sv", phrase: "granne" });
  idleRss = await phrasesRss();
});

afterAll(async () => {
  phrases?.[Symbol.dispose]();
  await stack?.[Symbol.asyncDispose]();
});

async function phrasesRss(): Promise<number> {
  const status = await readFile(`/proc/${stack.dev.pids["phrases"]}/status`, "latin1");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/**
 * Calls as the other tenant until the imports end. Returns the time of the slowest call, and the
 * growth of phrases' memory in bytes.
 */
async function neighbourDuring(imports: Promise<unknown>): Promise<{ slowestMs: number; growth: number }> {
  let [slowestMs, growth] = [0, 0];
  const over = new AbortController();
  const watched = imports.finally(() => over.abort());
  while (!over.signal.aborted) {
    const begun = performance.now();
    await neighbour.put({ language: "sv", phrase: "granne", description: `${begun}` });
    const put = performance.now();
    expect((await neighbour.get()).status).toBe(200);
    slowestMs = Math.max(slowestMs, put - begun, performance.now() - put);
    growth = Math.max(growth, (await phrasesRss()) - idleRss);
    await pause(20);
  }
  await watched;
  return { slowestMs, growth };
}

const columns = "language,phrase,commonMistakes\n";
const manyMistakes = Array.from({ length: 45 }, (_, n) => `m${n}`).join("|");
const ofRows = (row: (n: number) => string) => Array.from({ length: rowsMax }, (_, n) => row(n));
const forms = {
  "commas only": ["text/csv", ",\n".repeat(5_000_000)],
  "empty objects": ["application/json", `[${"{},".repeat(3_300_000)}{}]`],
  "rows of many cells": ["text/csv", columns + `sv${",".repeat(190)}\n`.repeat(rowsMax)],
  "rows of many mistakes": ["text/csv", columns + ofRows((n) => `sv,ord ${n},${manyMistakes}\n`).join("")],
  "faulty objects": [
    "application/json",
    `[${`{${ofRows((n) => `"${n}":1`)
      .slice(0, 20)
      .join(",")}},`.repeat(49_999)}{}]`,
  ],
  "one deep value": ["application/json", `[${"[".repeat(5_000_000)}`],
  "an open quote": ["text/csv", `${columns}sv,"${",\n".repeat(5_000_000)}`],
} as const;

test.for(Object.entries(forms))(
  "four imports of %s leave another tenant's calls under 2 s, RSS growth under 160 MiB",
  { timeout: 120_000 },
  async ([, [type, body]]) => {
    const imports = Array.from({ length: importsAtOnce }, async () => (await attacker.import(body, type)).status);
    const { slowestMs, growth } = await neighbourDuring(Promise.all(imports));
    for (const status of await Promise.all(imports)) expect([200, 400, 429]).toContain(status);
    expect(slowestMs).toBeLessThan(answerMsMax);
    expect(growth).toBeLessThan(growthMax);
  },
);

test.for(Object.entries(forms).filter(([name]) => name !== "rows of many mistakes"))(
  "four imports of %s refused by phrases leave another tenant's calls under 2 s, growth under 160 MiB",
  { timeout: 120_000 },
  async ([, [type, body]]) => {
    const format = type === "text/csv" ? PhraseFormat.CSV : PhraseFormat.JSON;
    const request = { tenantId: "demo", format, content: Buffer.from(body) };
    const refusal = async () => {
      await expect(phrases.importPhrases(request)).rejects.toThrow(/nothing was imported|too many imports/);
    };
    const { slowestMs, growth } = await neighbourDuring(Promise.all(Array.from({ length: importsAtOnce }, refusal)));
    expect(slowestMs).toBeLessThan(answerMsMax);
    expect(growth).toBeLessThan(growthMax);
  },
);

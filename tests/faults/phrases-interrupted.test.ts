import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { openDictionary, phrasesOf } from "../support/dictionary.ts";
import { vidimus } from "../support/vidimus.ts";

let stack: ProcessConstellation;
let demo: ReturnType<typeof openDictionary>;
let rival: ReturnType<typeof openDictionary>;

beforeAll(async () => {
  stack = await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" });
  const { gateway, tenants } = stack.dev;
  demo = openDictionary(gateway, tenants[0]!.apiKey);
  rival = openDictionary(gateway, tenants[1]!.apiKey);
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

const rowsMax = 50_000;
const csv = (language: string) =>
  ["language,phrase", ...Array.from({ length: rowsMax }, (_, n) => `${language},ord ${n}`)].join("\r\n");

/** Kills the phrases process. Returns a function that waits until a new one answers. */
async function killPhrases(): Promise<() => Promise<void>> {
  process.kill((await stack.current()).pids["phrases"]!, "SIGKILL");
  return () =>
    vi.waitFor(async () => expect((await demo.get("", {}, "HEAD")).status).toBe(200), {
      timeout: 10_000,
      interval: 20,
    });
}

/** Resolves when an import has written rows of a language that had `atLeast` phrases before. */
async function someWritten(language: string, atLeast = 0): Promise<void> {
  const count = async () => (await phrasesOf(demo.get(`?language=${language}`))).length;
  await vi.waitFor(async () => expect(await count()).toBeGreaterThan(atLeast), { timeout: 20_000, interval: 5 });
}

async function expectConvergence(language: string, body: string): Promise<void> {
  const before = await phrasesOf(demo.get(`?language=${language}`));
  const again = await demo.import(body);
  const { data } = (await again.json()) as { data: Record<string, number> };
  expect(data).toMatchObject({ imported: rowsMax, changed: 0 });
  expect(data["created"]! + data["unchanged"]!).toBe(rowsMax);
  expect(data["unchanged"]).toBeGreaterThanOrEqual(before.length);
  const after = await phrasesOf(demo.get(`?language=${language}`));
  expect(after).toHaveLength(rowsMax);
  expect(new Set(after.map(({ id }) => id)).size).toBe(rowsMax);
  const ids = new Map(after.map(({ phrase, id }) => [phrase, id]));
  for (const { phrase, id } of before) expect(ids.get(phrase)).toBe(id);
}

test("an import whose phrases process is killed midway answers 503, and a repeat completes it", async () => {
  await demo.put({ language: "sv", phrase: "ord 49999" });
  const held = (await demo.get("?language=sv")).headers.get("etag")!;
  const body = csv("sv");
  const cut = demo.import(body);
  await someWritten("sv", 1);
  const restarted = await killPhrases();
  const response = await cut;
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).not.toBeNull();
  await restarted();
  // The ETag changed with the part that was written.
  const partial = await phrasesOf(demo.get("?language=sv", { "if-none-match": held }));
  expect(partial.length).toBeGreaterThan(1);
  expect(partial.length).toBeLessThan(rowsMax);
  await expectConvergence("sv", body);
});

test("an import whose client goes away midway is completed by a repeat", async () => {
  const body = csv("en");
  const gone = new AbortController();
  const { gateway, tenants } = stack.dev;
  const cut = fetch(`${gateway}/v1/phrases/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenants[0]!.apiKey}`, "content-type": "text/csv" },
    body,
    signal: gone.signal,
  });
  await someWritten("en");
  gone.abort();
  await expect(cut).rejects.toThrow();
  await expectConvergence("en", body);
});

test("a replacement whose phrases process is killed keeps all old phrases, and a repeat completes it", async () => {
  const old = Array.from({ length: 200 }, (_, n) => `gammel ${n}`);
  expect((await demo.import(["language,phrase", ...old.map((phrase) => `nb,${phrase}`)].join("\n"))).status).toBe(200);
  const { gateway, grpc, tenants } = stack.dev;
  const cwd = await mkdtemp(join(tmpdir(), "vidimus-replace-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "nb.csv"), csv("nb"));
  const argv = ["phrases", "import", "nb.csv", "--replace", "--language", "nb", "--yes", "--phrases", grpc.phrases];
  const replace = (sleep?: (ms: number) => Promise<void>) =>
    vidimus([...argv, "--tenant", tenants[0]!.id, "--gateway", gateway], { cwd, ...(sleep && { sleep }) });
  const cut = replace(() => Promise.reject(new Error("the service is away")));
  await someWritten("nb", old.length);
  const restarted = await killPhrases();
  expect(await cut).toMatchObject({ code: 1 });
  await restarted();
  const partial = (await phrasesOf(demo.get("?language=nb"))).map(({ phrase }) => phrase);
  expect(partial.length).toBeLessThan(rowsMax);
  expect(partial).toEqual(expect.arrayContaining(old));
  expect(await replace()).toMatchObject({ code: 0, stdout: expect.stringContaining("; 200 deleted") as string });
  const after = (await phrasesOf(demo.get("?language=nb"))).map(({ phrase }) => phrase);
  expect(after).toHaveLength(rowsMax);
  expect(after.some((phrase) => phrase.startsWith("gammel"))).toBe(false);
});

/** How many requests to import the gateway has ended. */
async function endedImports(): Promise<number> {
  const metrics = await (await fetch(`${stack.dev.ops.gateway}/metrics`)).text();
  const counts = metrics.matchAll(/^vidimus_http_handled_seconds_count\{[^}]*phrases\/import"[^}]*\} (\d+)$/gm);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

test("nothing of an import whose body is cut off is stored", async () => {
  const rows = csv("da");
  const before = await endedImports();
  const { gateway, tenants } = stack.dev;
  const headers = { authorization: `Bearer ${tenants[0]!.apiKey}`, "content-type": "text/csv" };
  const cut = request(`${gateway}/v1/phrases/import`, { method: "POST", headers });
  cut.on("error", () => {});
  await new Promise((sent) => void cut.write(rows.slice(0, rows.length / 2), sent));
  cut.destroy();
  await vi.waitFor(async () => expect(await endedImports()).toBe(before + 1), { timeout: 10_000, interval: 50 });
  expect(await phrasesOf(demo.get("?language=da"))).toEqual([]);
});

let large: Promise<void> | undefined;

/**
 * Gives `rival` more phrases than the buffers of sockets and streams on the way can hold, even
 * compressed.
 */
async function importLarge(): Promise<void> {
  for (const language of ["sv", "en", "de", "fr"]) {
    const row = (n: number) => `${language},ord ${n},${randomBytes(450).toString("base64")}`;
    const rows = Array.from({ length: 15_000 }, (_, n) => row(n));
    const response = await rival.import(["language,phrase,description", ...rows].join("\n"));
    expect(response.status).toBe(200);
  }
}

test.for([
  ["csv", "identity"],
  ["json", "identity"],
  ["csv", "gzip"],
])("a %s export (%s) that breaks midway ends with an error at its client", async ([format, encoding]) => {
  await (large ??= importLarge());
  const response = await rival.get(`?format=${format}`, { "accept-encoding": encoding! });
  expect(response.status).toBe(200);
  const reader = response.body!.getReader();
  expect((await reader.read()).done).toBe(false);
  const restarted = await killPhrases();
  const rest = async () => {
    while (!(await reader.read()).done);
  };
  await expect(rest()).rejects.toThrow("terminated");
  await restarted();
});

import { DomainError } from "@vidimus/kit/errors";
import { readdir, readFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { Registry } from "prom-client";
import { patient } from "@vidimus/kit/testing/patient";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Draft, type DraftForm, readDraft } from "../domain/intake/read-draft.ts";
import { canonicalJson } from "../domain/json/canonical-json.ts";
import type { JsonValue } from "../domain/json/json-value.ts";
import type { TypeSource } from "../domain/types/document-type.ts";
import { buffersOfJob, checkDocument, runJob } from "./check-job.ts";
import { type Checking, openChecking } from "./open-checking.ts";

const form: DraftForm = { as: "create", tenantId: "demo", intakeToken: "t" };
const id = "0194c9a0-0000-4000-8000-000000000001";
const article: TypeSource = { builtIn: "core/article" };
const opened: Checking[] = [];
const logged: unknown[] = [];

afterEach(async () => {
  for (const checking of opened.splice(0)) await checking[Symbol.asyncDispose]();
  logged.splice(0);
  vi.useRealTimers();
});

function open(limits = { cpuMs: 300, heapMiB: 192 }, registry = new Registry()): Checking {
  const log = { warn: (fields: unknown) => logged.push(fields) };
  const checking = openChecking({ threads: 2, registry, log: log as never, limits });
  opened.push(checking);
  return checking;
}

function request(document: object): Uint8Array {
  return Buffer.from(JSON.stringify({ id, type: "core/article", title: "T", ...document }));
}

function source(key: string, shape: JsonValue, complete: JsonValue = {}): TypeSource {
  return { key, shape: canonicalJson(shape), complete: canonicalJson(complete) };
}

async function outcome<T>(work: () => T | Promise<T>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { kind: error.kind, message: error.message, violations: error.violations };
  }
}

/**
 * A draft with its bytes as text, without what only one side has: the parsed value of the event
 * loop, and the violations of the built-in shape that a thread finds in the same job.
 */
function bytesOf(draft: unknown): unknown {
  const { document, ...rest } = draft as Draft;
  if (!document) return draft;
  const parts = Object.entries(document.parts).map(([name, part]) => [name, Buffer.from(part).toString()]);
  return { ...rest, type: document.type, parts, digest: Buffer.from(document.digest).toString("hex") };
}

const filler = "x".repeat(40_000);
/** Content that repeats a value; `count` keeps it below 1 MiB. */
const values = (value: unknown, count: number) => ({ content: { a: Array.from({ length: count }, () => value) } });

describe("a document is read and checked alike in a thread and on the event loop", () => {
  test.each<[string, Uint8Array]>([
    ["long text", request({ content: { text: filler, more: 'ü\u2028"\\' } })],
    ["empty arrays", request(values([], 300_000))],
    [
      "many members",
      request({ content: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, i / 7])) }),
    ],
    ["large integers", request(values(2 ** 60, 40_000))],
    ["rich text", request({ title: { content: [{ type: "p", content: [{ text: "a" }, { text: filler }] }] } })],
    ["platform members in meta", request({ meta: { status: "usable", slug: filler } })],
    [
      "links",
      request({ links: Array.from({ length: 1_000 }, () => ({ rel: "a", type: "b", id: filler.slice(0, 20) })) }),
    ],
    ["a wrapper", Buffer.from(JSON.stringify({ version: 1, payload: { type: "core/tag", title: filler } }))],
    ["wrong members", request({ content: [], extra: filler })],
    ["a wrong shape", request({ content: { blocks: [{ type: 7 }, { type: "t", data: filler }] } })],
    ["broken JSON", Buffer.from(`{"a":"${filler}`)],
    ["an integer that a double cannot hold", Buffer.from(`{"a":"${filler}","b":[0,9007199254740993]}`)],
  ])("with %s", async (_, json) => {
    const checking = open({ cpuMs: 5_000, heapMiB: 192 });
    expect(json.byteLength).toBeGreaterThan(32 * 1024);
    const inThread = await outcome(() => checking.readDraft("demo", json, form));
    const inline = await outcome(() => readDraft(json, form));
    expect(bytesOf(inThread)).toEqual(bytesOf(inline));
    const { document } = inline as Draft;
    if (!document) return;
    for (const tier of ["shape", "publication"] as const) {
      const found = await checking.checks.check("demo", article, { parts: document.parts }, tier);
      expect(found).toEqual(checkDocument(article, document, tier));
    }
  });
});

test("a document of more than 1 MiB is refused without a job", async () => {
  const registry = new Registry();
  const checking = open(undefined, registry);
  const reading = checking.readDraft("demo", request({ title: "x".repeat(1024 * 1024) }), form);
  await expect(reading).rejects.toMatchObject({ kind: "too_large" });
  expect(await registry.metrics()).not.toContain('kind="read"');
});

test("a long document is checked against its built-in shape by the job that reads it", async () => {
  const registry = new Registry();
  const checking = open({ cpuMs: 5_000, heapMiB: 192 }, registry);
  for (const content of [{ filler }, { blocks: [{ type: 7 }], filler }]) {
    const { document } = await checking.readDraft("demo", request({ content }), form);
    const found = await checking.checks.check("demo", article, document!, "shape");
    expect(found).toEqual(checkDocument(article, document!, "shape"));
    expect(found).toHaveLength("blocks" in content ? 1 : 0);
  }
  const counted = await registry.metrics();
  expect(counted).toContain('vidimus_check_jobs_total{kind="read",outcome="done"} 2');
  expect(counted).not.toContain('kind="check"');
});

test("a document that fits its built-in shape is still checked against a tenant's own type", async () => {
  const checking = open({ cpuMs: 5_000, heapMiB: 192 });
  const { document } = await checking.readDraft("demo", request({ content: { filler } }), form);
  const own = await checking.checks.check("demo", source("own", { required: ["none"] }), document!, "shape");
  expect(own).toMatchObject([{ pointer: "/none" }]);
});

test("a document that fits its built-in shape is still checked for publication", async () => {
  const checking = open({ cpuMs: 5_000, heapMiB: 192 });
  const { document } = await checking.readDraft("demo", request({ content: { filler } }), form);
  const publication = await checking.checks.check("demo", article, document!, "publication");
  expect(publication.length).toBeGreaterThan(0);
});

test("the bytes of a read job are listed for transfer to its thread", () => {
  const json = new Uint8Array(request({ content: { filler } }));
  expect(buffersOfJob({ kind: "read", json, form })).toEqual([json.buffer]);
});

test("the content that a read job returns is listed for transfer from its thread", () => {
  const json = request({ content: { filler } });
  let owned: readonly ArrayBuffer[] = [];
  let content: Uint8Array | undefined;
  runJob({ kind: "read", json, form }, (report, buffers = []) => {
    if ("done" in report) content = (report.done as Draft).document?.parts.content;
    owned = buffers;
  });
  expect(owned).toContain(content?.buffer);
});

/** How many threads have the niceness of checking, 5 above the process's, by Linux' `/proc`. */
async function loweredThreads(): Promise<number> {
  const threads = await readdir("/proc/self/task");
  const stats = threads.map((id) => readFile(`/proc/self/task/${id}/stat`, "latin1").catch(() => ""));
  // The fields follow the thread's name, which ends with a bracket.
  const niceness = (await Promise.all(stats)).map((stat) => Number(stat.split(") ").at(-1)?.split(" ")[16]));
  return niceness.filter((value) => value === getPriority() + 5).length;
}

const small = { parts: readDraft(request({ content: { a: { a: { a: {} } } } }), form).document!.parts };
const deep = JSON.parse(`${'{"a":'.repeat(50)}{}${"}".repeat(50)}`);
const endless = { parts: readDraft(request({ content: deep }), form).document!.parts };
const node = { properties: { a: { $ref: "#/$defs/node" } }, anyOf: [{ $ref: "#/$defs/twig" }] };
const twig = { properties: { a: { $ref: "#/$defs/node" } } };
const doubling = { $defs: { node, twig }, properties: { content: { $ref: "#/$defs/node" } } };

describe("a job that reaches a limit", () => {
  test("of time refuses its own document, but not another document of the same type", async () => {
    const checking = open();
    const type = source("acme", doubling);
    await expect(checking.checks.check("demo", type, endless, "shape")).resolves.toEqual([
      { pointer: "", message: "cannot be checked against its type: it takes more than 300 ms" },
    ]);
    await expect(checking.checks.check("demo", type, small, "shape")).resolves.toEqual([]);
  });

  test("of time is counted", async () => {
    const registry = new Registry();
    const checking = open({ cpuMs: 50, heapMiB: 192 }, registry);
    await checking.checks.check("demo", source("acme", doubling), endless, "shape");
    expect(await registry.metrics()).toContain('vidimus_check_jobs_total{kind="check",outcome="time"} 1');
  });

  test("of time is logged with its tenant and type", async () => {
    const checking = open({ cpuMs: 50, heapMiB: 192 });
    await checking.checks.check("demo", source("acme", doubling), endless, "shape");
    expect(logged).toMatchObject([{ tenantId: "demo", outcome: "time", type: "acme" }]);
  });

  test("of time reports the violations that it had found", async () => {
    const checking = open();
    const wrong = { ...doubling, required: ["none"] };
    const found = await checking.checks.check("demo", source("wrong", wrong), endless, "shape");
    expect(found).toMatchObject([{ pointer: "/none" }]);
    const complete = await checking.checks.check("demo", source("late", {}, wrong), endless, "publication");
    expect(complete).toMatchObject([{ pointer: "/none" }]);
  });

  test("of time in a check for publication gives a violation, even if the check had found none", async () => {
    const found = await open().checks.check("demo", source("late", {}, doubling), endless, "publication");
    expect(found).toMatchObject([{ pointer: "", message: expect.stringContaining("more than 300 ms") }]);
  });

  test("of memory refuses its own document, but not the next document", async () => {
    const checking = open({ cpuMs: 10_000, heapMiB: 16 });
    await expect(checking.readDraft("demo", request(values([], 300_000)), form)).rejects.toMatchObject({
      kind: "invalid",
      message: "the document cannot be used: it takes more than 16 MiB",
    });
    await expect(checking.readDraft("demo", request({ content: { filler } }), form)).resolves.toMatchObject({
      documentId: id,
    });
  });

  test("of time while it compiles a schema refuses the schema", async () => {
    const some = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`p${i}`, { type: "string", maxLength: i }]));
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`q${i}`, { properties: some }]));
    const schema = Buffer.from(JSON.stringify({ properties: many }));
    const adding = open({ cpuMs: 50, heapMiB: 192 }).readSchema("demo", "shape_schema_json", schema);
    await expect(adding).rejects.toMatchObject({
      kind: "invalid",
      message: "shape_schema_json cannot be used: it takes more than 50 ms",
    });
  });
});

test("a tenant's documents are checked while another tenant's jobs take all the time they may", async () => {
  const checking = open({ cpuMs: 1_000, heapMiB: 192 });
  let isOver = false;
  const hostile = Promise.all(
    [1, 2, 3].map(() => checking.checks.check("hostile", source("h", doubling), endless, "shape")),
  ).finally(() => (isOver = true));
  for (let count = 0; count < 50; count += 1) {
    await checking.checks.check("demo", source("d", { required: ["title"] }), small, "shape");
    expect(isOver).toBe(false);
  }
  await hostile;
});

test("a thread that checks has a lower priority than the event loop", async () => {
  const checking = open();
  await checking.readDraft("demo", request({ content: { filler } }), form);
  expect(await loweredThreads()).toBe(1);
});

test("a job whose caller has gone before its turn is rejected with the caller's reason", async () => {
  const checking = open({ cpuMs: 300, heapMiB: 192 });
  const gone = new AbortController();
  const before = checking.checks.check("demo", source("h", doubling), endless, "shape");
  const after = checking.readDraft("demo", request({ content: { filler } }), form, gone.signal);
  gone.abort(new Error("gone"));
  await expect(after).rejects.toThrow("gone");
  await before;
});

test("a job that meets a bug fails only its own document, as unavailable", async () => {
  const checking = open();
  const broken = checking.checks.check(
    "demo",
    { builtIn: "core/none" },
    { parts: { ...small.parts, content: Buffer.alloc(40_000, " ") } },
    "shape",
  );
  await expect(broken).rejects.toMatchObject({ kind: "unavailable", message: "it could not be checked; try again" });
  await expect(checking.checks.check("demo", source("d", {}), small, "shape")).resolves.toEqual([]);
});

test("a thread without a job for 30 s ends, and the next job starts a new thread", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const checking = open();
  const read = () => checking.readDraft("demo", request({ content: { filler } }), form);
  await read();
  vi.advanceTimersByTime(29_000);
  // The idle timer still runs. The count of threads alone would not show that, because it may
  // include a thread that has just ended.
  expect(vi.getTimerCount()).toBe(1);
  expect(await loweredThreads()).toBe(1);
  vi.advanceTimersByTime(1_000);
  vi.useRealTimers();
  await vi.waitFor(async () => expect(await loweredThreads()).toBe(0), patient);
  await expect(read()).resolves.toMatchObject({ documentId: id });
  expect(await loweredThreads()).toBe(1);
});

test("the end of checking rejects waiting and running jobs as unavailable, and leaves no thread", async () => {
  const checking = open({ cpuMs: 60_000, heapMiB: 192 });
  const running = checking.checks.check("demo", source("h", doubling), endless, "shape");
  const waiting = checking.readDraft("demo", request({ content: { filler } }), form);
  const refusals = Promise.all([outcome(() => running), outcome(() => waiting)]);
  await vi.waitFor(async () => expect(await loweredThreads()).toBe(1), patient);
  await checking[Symbol.asyncDispose]();
  expect(await refusals).toMatchObject([{ kind: "unavailable" }, { kind: "unavailable" }]);
  await vi.waitFor(async () => expect(await loweredThreads()).toBe(0), patient);
});

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type GetDictionaryRevisionRequest, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError } from "@vidimus/kit/errors";
import { route } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { FakePublisher } from "./support/fake-publisher.ts";
import { type RawClient, rawClient, requestHead } from "./support/raw-client.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

const mib = 1024 * 1024;
const publisher = new FakePublisher();
let exportsOpen = 0;
/** How many exports were opened since the start. */
let exportsOpened = 0;
let revisionsAsked = 0;
let revisionGate: Promise<void> | undefined;
/** A dictionary whose second piece never comes. */
const phrases = {
  getDictionaryRevision: async ({ language }: GetDictionaryRevisionRequest) => {
    revisionsAsked += 1;
    await revisionGate;
    if (language === "x-none") throw new DomainError("unavailable", "the database cannot be reached");
    return { revision: "r1", language };
  },
  async *listPhrases(_: unknown, { signal }: HandlerContext) {
    exportsOpen += 1;
    exportsOpened += 1;
    signal.addEventListener("abort", () => (exportsOpen -= 1));
    yield { content: Buffer.alloc(128 * 1024, "x") };
    await once(signal, "abort");
  },
} as unknown as ServiceImpl<typeof PhraseService>;

let gateway: Awaited<ReturnType<typeof openGateway>>;
let rpc: Awaited<ReturnType<typeof serve>>;
let acme: string;
let rival: string;
let clients: RawClient[];

beforeAll(async () => {
  const [documents] = new FakeDocuments().routes();
  rpc = await serve([documents!, publisher.route(), route(PhraseService, phrases)]);
  const target = `127.0.0.1:${rpc.port}`;
  gateway = await openGateway({ documentsTarget: target, phrasesTarget: target });
  acme = await newKey(gateway.access, "acme");
  rival = await newKey(gateway.access, "rival");
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
});

beforeEach(() => {
  clients = [];
  publisher.asked.length = 0;
  return () => clients.forEach((client) => client[Symbol.dispose]());
});

/** Opens `count` connections that each write `text`. */
async function open(
  count: number,
  text: string | Buffer,
  options: { unread?: boolean; allowHalfOpen?: boolean } = {},
): Promise<RawClient[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => rawClient(gateway.httpPort, text, options)));
  clients.push(...opened);
  return opened;
}

const get = (path: string) => requestHead(`GET ${path}`, { authorization: `Bearer ${acme}` });

/** Creates documents of rival one after the other; returns the statuses of the answers. */
async function creates(count: number): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let at = 0; at < count; at += 1) {
    const body = JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "x" });
    const headers = { ...bearer(rival), "content-type": "application/json" };
    statuses.add((await fetch(`${gateway.url}/v1/documents`, { method: "POST", headers, body })).status);
  }
  return statuses;
}

/**
 * How many requests were refused since the start for their tenant's share of any of these pools.
 */
async function refusedShares(...pools: string[]): Promise<number> {
  const text = await (await fetch(`${gateway.ops}/metrics`)).text();
  const lines = text.matchAll(/^vidimus_shares_refused_total\{pool="(\w+)",outcome="share".*\} (\d+)$/gm);
  return lines.reduce((sum, [, pool = "", count]) => sum + (pools.includes(pool) ? Number(count) : 0), 0);
}

test("while stalled imports hold their tenant's share of the body memory, another tenant's creates go on", async () => {
  const announced = (bytes: number) =>
    Buffer.from(
      requestHead("POST /v1/phrases/import", {
        authorization: `Bearer ${acme}`,
        "content-type": "text/csv",
        "content-length": String(bytes),
      }),
    );
  // All of a body but its last byte. It has no row end, so that it is not refused for its rows.
  const stalled = (bytes: number) => Buffer.concat([announced(bytes), Buffer.alloc(bytes - 1, "x")]);
  const large = await open(6, stalled(10 * mib));
  const [last] = await open(1, stalled(4 * mib));
  const refused = await Promise.race([...large, last!].map(async (client) => (await client.status) && client));
  expect(refused).not.toBe(0);
  expect(await creates(98)).toEqual(new Set([201]));
  const text = (refused as RawClient).text();
  expect(text).toMatch(/^HTTP\/1.1 429 /);
  expect(text).toMatch(/^retry-after: 1\r$/m);
  expect(text).toContain("The tenant's share of the memory for request bodies, 32 MiB, is in use");
  expect(await refusedShares("body_memory")).toBeGreaterThan(0);
});

test("an import that stalls is answered 408 after ten seconds", async () => {
  const head = requestHead("POST /v1/phrases/import", {
    authorization: `Bearer ${acme}`,
    "content-type": "text/csv",
    "content-length": String(10 * mib),
  });
  const started = performance.now();
  const [stalled] = await open(1, Buffer.concat([Buffer.from(head), Buffer.alloc(9 * mib, "x")]));
  expect(await stalled!.status).toBe(408);
  expect(performance.now() - started).toBeGreaterThan(10_000);
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(stalled!.text()).toContain("the body arrives too slowly");
});

test("slow readers of exports beyond their tenant's share are refused without a call to phrases", async () => {
  const readers = await open(200, get("/v1/phrases?format=csv"), { unread: true });
  const patient = { timeout: 25_000, interval: 200 };
  await expect.poll(() => refusedShares("exports"), patient).toBe(200 - 16);
  await expect.poll(() => exportsOpen, patient).toBe(16);
  expect(revisionsAsked).toBe(16);
  expect(await creates(20)).toEqual(new Set([201]));
  const own = await fetch(`${gateway.url}/v1/publisher/documents/${randomUUID()}`, { headers: bearer(acme) });
  expect(own.status).toBe(200);
  for (const reader of readers) reader[Symbol.dispose]();
  await expect.poll(() => exportsOpen, patient).toBe(0);
}, 60_000);

test("only readers without a current copy of the dictionary take an export slot", async () => {
  const gate = Promise.withResolvers<void>();
  revisionGate = gate.promise;
  const before = revisionsAsked;
  const refused = await refusedShares("exports");
  const having = (etag: string) =>
    requestHead("GET /v1/phrases?format=csv", { authorization: `Bearer ${acme}`, "if-none-match": etag });
  const fresh = await open(40, having('W/"r1-all-csv"'));
  const stale = await open(20, having('W/"r0-all-csv"'));
  await expect.poll(() => revisionsAsked - before, { timeout: 25_000 }).toBe(60);
  gate.resolve();
  revisionGate = undefined;
  const statuses = await Promise.all([...fresh, ...stale].map(({ status }) => status));
  const times = (status: number) => statuses.filter((each) => each === status).length;
  expect([times(304), times(200), times(429)]).toEqual([40, 16, 4]);
  expect((await refusedShares("exports")) - refused).toBe(4);
}, 60_000);

test("an export whose body is not sent holds no part of its tenant's share", async () => {
  const ask = async (query: string, init: { method?: string; headers?: Record<string, string> }) => {
    const headers = { ...bearer(acme), ...init.headers };
    return (await fetch(`${gateway.url}/v1/phrases${query}`, { ...init, headers })).status;
  };
  // The readers come one after the other, and are more than the tenant's share.
  for (let turn = 0; turn < 100; turn += 1) {
    expect(await ask("", { headers: { "if-none-match": 'W/"r1-all-json"' } })).toBe(304);
    expect(await ask("", { method: "HEAD" })).toBe(200);
    expect(await ask("?language=x-none", {})).toBe(503);
  }
});

test("readers that leave before their answers begin free their tenant's share and open no export", async () => {
  const gate = Promise.withResolvers<void>();
  revisionGate = gate.promise;
  publisher.changes = async () => {
    await gate.promise;
    return { itemsJson: Buffer.from(`["${"x".repeat(3 * mib)}"]`), since: "t0" };
  };
  const before = revisionsAsked;
  const openedBefore = exportsOpened;
  const patient = { timeout: 25_000, interval: 200 };
  const leaving = [
    // The pages alone are more than the tenant's share.
    ...(await open(16, get("/v1/phrases?format=csv"))),
    ...(
      await Promise.all(Array.from({ length: 22 }, (_, n) => open(1, get(`/v1/publisher/changes?since=t${n}`))))
    ).flat(),
  ];
  await expect.poll(() => [revisionsAsked - before, publisher.asked.length], patient).toEqual([16, 22]);
  for (const client of leaving) client[Symbol.dispose]();
  // Once these are answered, the gateway has noticed that the readers left.
  await creates(10);
  gate.resolve();
  revisionGate = undefined;
  const begins = async (path: string) => (await (await open(1, get(path)))[0]!.status) === 200;
  await expect.poll(() => begins("/v1/publisher/changes"), patient).toBe(true);
  await expect.poll(() => begins("/v1/phrases?format=csv"), patient).toBe(true);
  expect(exportsOpened - openedBefore).toBe(1);
  for (const client of clients) client[Symbol.dispose]();
  await expect.poll(() => exportsOpen, patient).toBe(0);
}, 60_000);

test("a tenant's long polls beyond its share of 256 are refused, but not its read without a wait", async () => {
  const held = Promise.withResolvers<void>();
  const nothing = { itemsJson: Buffer.from("[]"), since: "t0", hasMore: false };
  publisher.changes = async ({ waitMs }) => {
    if (waitMs > 0) await held.promise;
    return nothing;
  };
  const polls = await open(400, get("/v1/publisher/changes?wait=20"));
  const early = new Map<number, number>();
  for (const poll of polls) void poll.status.then((status) => early.set(status, (early.get(status) ?? 0) + 1));
  const waiting = () => publisher.asked.filter((request) => "waitMs" in request && request.waitMs > 0).length;
  await expect.poll(waiting, { timeout: 10_000 }).toBeGreaterThan(0);
  await expect.poll(() => [...early], { timeout: 10_000 }).toEqual([[429, 144]]);
  expect(polls.find((poll) => poll.text() !== "")!.text()).toMatch(/^retry-after: \d+\r$/m);
  expect((await fetch(`${gateway.url}/v1/publisher/changes`, { headers: bearer(acme) })).status).toBe(200);
  held.resolve();
  await Promise.all(polls.map(({ status }) => status));
  expect(early.get(200)).toBe(256);
  // The polls ask the same, so they share their first read and their wait.
  expect(publisher.asked.length).toBeLessThan(128);
  expect(waiting()).toBeLessThan(8);
});

test("the sender of a refused body sees the answer, although the body is not read to its end", async () => {
  const head = requestHead("POST /v1/documents", {
    authorization: `Bearer ${acme}`,
    "content-type": "text/plain",
    "transfer-encoding": "chunked",
  });
  // The client keeps sending after the gateway has ended its side.
  const [client] = await open(1, head, { allowHalfOpen: true });
  const { socket } = client!;
  const piece = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(64 * 1024, " "), Buffer.from("\r\n")]);
  const started = performance.now();
  const flood = async () => {
    while (!socket.destroyed) if (!socket.write(piece)) await once(socket, "drain");
  };
  await Promise.race([flood().catch(() => {}), client!.ended]);
  expect(await client!.status).toBe(415);
  expect(client!.text()).toMatch(/^connection: close\r$/m);
  expect(client!.text()).toContain('"code":"UNSUPPORTED_MEDIA_TYPE"');
  await client!.ended;
  expect(performance.now() - started).toBeLessThan(8_000);
  // What the kernel's buffers of both sides hold is counted as sent, too.
  expect(socket.bytesWritten).toBeLessThan(48 * mib);
});

import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { spawnGateway } from "./support/spawn-gateway.ts";
import { accessClient, bearer, newKey } from "./support/start-gateway.ts";

const mib = 1024 * 1024;
let rpc: Awaited<ReturnType<typeof serve>>;
let gateway: Awaited<ReturnType<typeof spawnGateway>>;
let key: string;

beforeAll(async () => {
  rpc = await serve(new FakeDocuments().routes());
  gateway = await spawnGateway({ LOG_LEVEL: "info", DOCUMENTS_TARGET: `127.0.0.1:${rpc.port}` });
  key = await newKey(accessClient(gateway.grpcPort), "acme");
  // A process grows while it warms up: that growth is not the attack's.
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(Array.from({ length: 50 }, () => push(document(100_000))));
  }
});

afterAll(async () => {
  await gateway.stop();
  await rpc[Symbol.asyncDispose]();
});

const document = (bytes = 10) => JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "x".repeat(bytes) });

async function push(body: BodyInit, headers: Record<string, string> = bearer(key)): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${gateway.httpPort}/v1/documents`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    duplex: "half",
  } as RequestInit);
  await response.text();
  return response.status;
}

async function residentBytes(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.opsPort}/metrics`)).text();
  return Number(/^process_resident_memory_bytes\{[^}]*\} (\S+)/m.exec(text)?.[1]);
}

/**
 * Opens sockets that write the same text and then wait; resolves with what came back once the
 * gateway has ended all of them.
 */
function waitingSockets(count: number, text: string): Promise<string[]> {
  const one = () =>
    new Promise<string>((resolve) => {
      let answer = "";
      const socket: Socket = connect(gateway.httpPort, "127.0.0.1", () => socket.write(text));
      socket.on("data", (chunk) => (answer += chunk.toString()));
      socket.on("error", () => {});
      socket.on("close", () => resolve(answer));
    });
  return Promise.all(Array.from({ length: count }, one));
}

/** A stream of `total` MiB, made as it is read. */
function endless(total: number): ReadableStream<Uint8Array> {
  const chunk = Buffer.alloc(mib, " ");
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent === total) return controller.close();
      sent += 1;
      controller.enqueue(chunk);
    },
  });
}

describe("an attack", () => {
  test("of slow, large, deep and compressed requests takes at most 64 MiB of memory and stops no create", async () => {
    const before = await residentBytes();
    let peak = before;
    const over = new AbortController();
    const watch = (async () => {
      while (!over.signal.aborted) {
        peak = Math.max(peak, await residentBytes());
        expect(await push(document())).toBe(201);
        await pause(100);
      }
    })();
    const head = `POST /v1/documents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const slowHeaders = waitingSockets(200, "GET /api/keys HTTP/1.1\r\nHost: x\r\nA: ");
    const slowBodies = waitingSockets(200, `${head}Content-Length: 100000\r\n\r\n${" ".repeat(50_000)}`);
    const deep = `{"id":"${randomUUID()}","type":"t","title":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const bomb = gzipSync(Buffer.alloc(100 * mib));
    const large = await Promise.all([push(endless(100)), push(endless(100), {}), push(endless(100))]);
    const others = [await push(deep), await push(bomb, { ...bearer(key), "content-encoding": "gzip" })];
    const slow = [...(await slowHeaders), ...(await slowBodies)];
    over.abort();
    await watch;
    expect(large).toEqual([413, 401, 413]);
    expect(others).toEqual([201, 415]);
    expect(slow).toHaveLength(400);
    for (const answer of slow) expect(answer === "" || answer.startsWith("HTTP/1.1 408 ")).toBe(true);
    expect((peak - before) / mib).toBeLessThanOrEqual(64);
  });
});

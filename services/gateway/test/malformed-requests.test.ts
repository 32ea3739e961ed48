import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { rawClient } from "./support/raw-client.ts";
import { readRefusal } from "./support/read-refusal.ts";

let edge: Edge;

beforeAll(async () => {
  edge = await openEdge();
});

afterAll(() => edge[Symbol.asyncDispose]());

describe("malformed requests", () => {
  const post = "POST /v1/documents HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";

  test.each([
    ["no HTTP at all", "hello\r\n\r\n", 400],
    ["a bad version", "GET / HTTP/9.9\r\nHost: x\r\n\r\n", 400],
    ["no Host", "GET /api/keys HTTP/1.1\r\n\r\n", 400],
    ["a header with a space in its name", "GET / HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n", 400],
    [
      "Content-Length beside Transfer-Encoding",
      `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ["two Content-Lengths", `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345`, 400],
    ["a negative Content-Length", `${post}Content-Length: -1\r\n\r\n`, 400],
    ["the unknown Transfer-Encoding xchunked", `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
    ["obsolete line folding", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400],
    ["20 KB of headers", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(20_000)}\r\n\r\n`, 400],
    ["a URL of 20 KB", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 400],
  ])("%s gets one 400 in the envelope, and the connection ends", async (_, text, status) => {
    expect(readRefusal(await edge.raw(text)).status).toBe(status);
  });

  test.each(["/%", "/v1/%ZZ", "/v1/documents%"])("the bad URL %s is answered 400 in the envelope", async (path) => {
    const answer = await edge.raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(readRefusal(answer)).toEqual({ status: 400, code: "INVALID_QUERY" });
  });

  test("a body of bad chunks is refused with one 400, before documents sees it", async () => {
    edge.documents.batches.length = 0;
    const auth = `Authorization: Bearer ${edge.key}\r\n`;
    const answer = await edge.raw(`${post}${auth}Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n`);
    expect(readRefusal(answer)).toEqual({ status: 400, code: "INVALID_PAYLOAD" });
    expect(edge.documents.batches).toHaveLength(0);
  });

  test("a body that ends before its Content-Length is refused, and documents does not see it", async () => {
    edge.documents.batches.length = 0;
    const auth = `Authorization: Bearer ${edge.key}\r\n`;
    const head = `${post}${auth}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`;
    using client = await rawClient(edge.gateway.httpPort, head, { allowHalfOpen: true });
    // The gateway asks for the body when it begins to read it.
    await expect.poll(() => client.text()).toContain("100 Continue");
    client.socket.end(`{"id":"${randomUUID()}"`);
    await client.ended;
    expect(client.text()).toMatch(/\r\nHTTP\/1\.1 400 /);
    expect(client.text()).toContain('"code":"INVALID_PAYLOAD"');
    expect(edge.documents.batches).toHaveLength(0);
  });
});

describe("slow clients", () => {
  const head = "POST /v1/documents HTTP/1.1\r\nHost: x\r\n";
  const auth = () => `Authorization: Bearer ${edge.key}\r\nContent-Type: application/json\r\n`;

  const headersOnly = () => "GET /api/keys HTTP/1.1\r\nHost: x\r\nA: ";
  const bodyBegun = () => `${head}${auth()}Content-Length: 100\r\n\r\n{`;

  test.concurrent.each([
    ["headers that do not arrive within 5 s", headersOnly, 4_990, 8_000],
    ["a body that does not arrive within 10 s", bodyBegun, 9_990, 14_000],
  ] as const)("get 408 for %s", async (_, text, leastMs, mostMs) => {
    const started = performance.now();
    const answer = await edge.raw(text());
    const ms = performance.now() - started;
    expect(readRefusal(answer)).toEqual({ status: 408, code: "REQUEST_TIMEOUT" });
    expect(ms).toBeGreaterThan(leastMs);
    expect(ms).toBeLessThan(mostMs);
  });
});

import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { readRefusal } from "./support/read-refusal.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

let edge: Edge;

beforeAll(async () => {
  edge = await openEdge();
  edge.documents.page = { itemsJson: "[]", nextCursor: "", hasMore: false, etag: 'W/"e"' };
});

afterAll(() => edge[Symbol.asyncDispose]());

describe("the order of checks", () => {
  const body = "{";
  test("puts the write budget (429) after the scope (403) and before the media type (415)", async () => {
    await using limited = await openGateway({ writeBudget: { count: 1, windowMs: 60_000 } });
    const writer = await newKey(limited.access, "acme", ["documents:create"]);
    const reader = await newKey(limited.access, "acme", ["publisher:read"]);
    const text = (of: string) =>
      fetch(`${limited.url}/v1/documents`, {
        method: "POST",
        headers: { ...bearer(of), "content-type": "text/plain" },
        body,
      }).then(({ status }) => status);
    expect([await text(writer), await text(reader), await text(writer)]).toEqual([415, 403, 429]);
  });

  test("puts the key (401) before the arrival of the body", async () => {
    const head =
      "POST /v1/documents HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    const started = performance.now();
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(edge.gateway.httpPort, "127.0.0.1", () => socket.write(head));
      socket.once("data", (chunk) => {
        resolve(chunk.toString());
        socket.destroy();
      });
    });
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

const documentOf = () => JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "x" });
const headOf = (document: string) =>
  `POST /v1/documents HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${document.length}\r\n`;
const auth = () => `Authorization: Bearer ${edge.key}\r\n`;

describe("an Expect header", () => {
  test("is answered 100 Continue only after the key was accepted", async () => {
    const document = documentOf();
    const head = headOf(document);
    const refused = await edge.raw(`${head}Expect: 100-continue\r\n\r\n`, { end: true });
    expect(readRefusal(refused).status).toBe(401);
    expect(await edge.raw(`${head}${auth()}Expect: 100-continue\r\n\r\n${document}`)).toMatch(
      /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /,
    );
  });

  test("with an unknown expectation does not lead to a refusal", async () => {
    const document = documentOf();
    const request = `${headOf(document)}${auth()}Expect: the-unexpected\r\n\r\n${document}`;
    expect(await edge.raw(request)).toMatch(/HTTP\/1.1 201 /);
  });
});

describe("an Authorization header", () => {
  const head = "GET /v1/documents?type=core/tag HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";

  test("that comes twice is answered 401", async () => {
    expect(await edge.raw(`${head}${auth()}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
    expect(readRefusal(await edge.raw(`${head}${auth()}${auth()}\r\n`)).status).toBe(401);
  });

  test("of more than 128 characters is answered 401", async () => {
    const ofLength = (chars: number) =>
      edge.raw(`${head}Authorization: Bearer${edge.key.padStart(chars - "Bearer".length)}\r\n\r\n`);
    expect(await ofLength(128)).toMatch(/^HTTP\/1.1 200 /);
    expect(readRefusal(await ofLength(129)).status).toBe(401);
  });

  test("is also accepted in the form `authorization: bEaReR`", async () => {
    expect(await edge.raw(`${head}authorization: bEaReR ${edge.key}\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  });
});

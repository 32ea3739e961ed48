import { randomBytes, randomUUID } from "node:crypto";
import { connect } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

const documents = new FakeDocuments();
const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
let gateway: Awaited<ReturnType<typeof openGateway>>;
let rpc: Awaited<ReturnType<typeof serve>>;
let key: string;

beforeAll(async () => {
  rpc = await serve(documents.routes());
  gateway = await openGateway({ documentsTarget: `127.0.0.1:${rpc.port}` });
  key = await newKey(gateway.access, "acme");
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
});

beforeEach(() => {
  documents.page = { itemsJson: "[]", nextCursor: "", hasMore: false, etag: 'W/"e"' };
});

/** Writes bytes to the public port and answers everything that comes back until the connection ends. */
function raw(text: string | Buffer, { endAfterWrite = false, timeoutMs = 20_000 } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.httpPort, "127.0.0.1", () => {
      if (endAfterWrite) socket.end(text);
      else socket.write(text);
    });
    let answer = "";
    socket.setTimeout(timeoutMs, () => reject(new Error(`the connection stays open; so far: ${answer.slice(0, 200)}`)));
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => {
      socket.setTimeout(0);
      resolve(answer);
    });
  });
}

/** The one answer of a connection, which must be a refusal in the envelope, and nothing after it. */
function refusal(answer: string) {
  const [head = "", body = "", ...more] = answer.split("\r\n\r\n");
  expect(more).toEqual([]);
  const headers = new Headers(
    head
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]),
  );
  expect(headers.get("x-request-id")).toMatch(uuidv7);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(Number(headers.get("content-length"))).toBe(Buffer.byteLength(body));
  const envelope = JSON.parse(body) as { ok: boolean; error: { code: string; message: string } };
  expect(envelope).toEqual({
    ok: false,
    error: { code: expect.any(String) as string, message: expect.any(String) as string },
  });
  return { status: Number(head.split(" ")[1]), code: envelope.error.code };
}

describe("every answer", () => {
  test.each([
    ["GET", "/api/keys"],
    ["GET", "/nowhere"],
    ["GET", "/v2/documents"],
    ["POST", "/api/keys"],
    ["OPTIONS", "/v1/documents"],
    ["GET", "/v1/documents"],
    ["GET", "/v1/documents?limit=%"],
    ["HEAD", "/nowhere"],
  ])("%s %s has a request id of our own and the security headers", async (method, path) => {
    const response = await fetch(`${gateway.url}${path}`, { method, headers: { "x-request-id": "chosen-by-client" } });
    expect(response.headers.get("x-request-id")).toMatch(uuidv7);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(response.headers.get("server")).toBeNull();
    if (response.status >= 400) expect(response.headers.get("cache-control")).toBe("no-store");
  });
});

describe("404", () => {
  test.each([
    "/",
    "/nowhere",
    "/v1",
    "/v1/",
    "/v1/document",
    "/v1/documents/",
    "/v2/documents",
    "/V1/documents",
    "/openapi.json",
    "/docs",
    "/metrics",
  ])("%s is NOT_FOUND in the envelope, with or without a key", async (path) => {
    for (const headers of [{}, bearer(key)]) {
      const response = await fetch(`${gateway.url}${path}`, { headers });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
    }
  });

  test("comes before a body is read", async () => {
    const answer = await raw(
      "POST /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n12345",
    );
    expect(refusal(answer)).toEqual({ status: 404, code: "NOT_FOUND" });
  });
});

describe("405 and OPTIONS", () => {
  test.each(["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "QUERY", "LINK"])(
    "%s is METHOD_NOT_ALLOWED before 401",
    async (method) => {
      const answer = await raw(`${method} /v1/documents HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^allow: POST, GET, HEAD, OPTIONS\r$/m);
      expect(refusal(answer)).toEqual({ status: 405, code: "METHOD_NOT_ALLOWED" });
    },
  );

  test("OPTIONS says what is allowed, and invites no other origin to /v1", async () => {
    const response = await fetch(`${gateway.url}/v1/documents`, { method: "OPTIONS" });
    expect(response.status).toBe(204);
    expect(response.headers.get("allow")).toBe("POST, GET, HEAD, OPTIONS");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("precedence", () => {
  const body = "{";
  const post = (path: string, headers: Record<string, string>) =>
    fetch(`${gateway.url}${path}`, { method: "POST", headers, body }).then(({ status }) => status);

  test("401 → 403 → 415 → 400 of the query → 400 of the body, each before the next", async () => {
    const reader = await newKey(gateway.access, "acme", ["publisher:read"]);
    const bad = { "content-type": "text/plain" };
    const good = { "content-type": "application/json" };
    expect(await post("/v1/documents?x=1", { ...bad })).toBe(401);
    expect(await post("/v1/documents?x=1", { ...bad, ...bearer(reader) })).toBe(403);
    expect(await post("/v1/documents?x=1", { ...bad, ...bearer(key) })).toBe(415);
    expect(await post("/v1/documents?x=1", { ...good, ...bearer(key) })).toBe(400);
    expect(await post("/v1/documents", { ...good, ...bearer(key) })).toBe(400);
  });

  test("429 of the write budget comes after 403 and before 415", async () => {
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

  test("authentication never waits for the body", async () => {
    const head =
      "POST /v1/documents HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    const started = performance.now();
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(gateway.httpPort, "127.0.0.1", () => socket.write(head));
      socket.once("data", (chunk) => {
        resolve(chunk.toString());
        socket.destroy();
      });
    });
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test("a client that expects to be asked for its body is asked only once it was let in", async () => {
    const document = () => JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "x" });
    const body = document();
    const head = `POST /v1/documents HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const refused = await raw(`${head}Expect: 100-continue\r\n\r\n`, { endAfterWrite: true });
    expect(refusal(refused).status).toBe(401);
    const auth = `Authorization: Bearer ${key}\r\n`;
    expect(await raw(`${head}${auth}Expect: 100-continue\r\n\r\n${body}`)).toMatch(
      /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /,
    );
    expect(await raw(`${head}${auth}Expect: the-unexpected\r\n\r\n${document()}`)).toMatch(/HTTP\/1.1 201 /);
  });

  test("two Authorization headers, or a long one, are no authentication", async () => {
    const head = "GET /v1/documents?type=core/tag HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    const one = `Authorization: Bearer ${key}\r\n`;
    expect(await raw(`${head}${one}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
    expect(refusal(await raw(`${head}${one}${one}\r\n`)).status).toBe(401);
    expect(refusal(await raw(`${head}Authorization: Bearer ${" ".repeat(60)}${key}\r\n\r\n`)).status).toBe(401);
    expect(await raw(`${head}authorization: bEaReR ${key}\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  });
});

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
    ["a disguised Transfer-Encoding", `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
    ["obsolete line folding", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400],
    ["20 KB of headers", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(20_000)}\r\n\r\n`, 400],
    ["a URL of 20 KB", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 400],
  ])("%s gets one clean answer and the connection ends", async (_, text, status) => {
    expect(refusal(await raw(text)).status).toBe(status);
  });

  test.each(["/%", "/v1/%ZZ", "/v1/documents%"])("the bad URL %s is answered in the envelope", async (path) => {
    const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(refusal(answer)).toMatchObject({ status: expect.toSatisfy((status) => status === 400 || status === 404) });
  });

  test("bad chunks end the connection, and documents never sees the body", async () => {
    documents.batches.length = 0;
    const auth = `Authorization: Bearer ${key}\r\n`;
    const answer = await raw(`${post}${auth}Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n`);
    expect(answer === "" || refusal(answer).status === 400).toBe(true);
    expect(documents.batches).toHaveLength(0);
  });

  test("a body that ends early is never taken for a whole one", async () => {
    documents.batches.length = 0;
    const auth = `Authorization: Bearer ${key}\r\n`;
    await raw(`${post}${auth}Content-Length: 100\r\n\r\n{"id":"${randomUUID()}"`, { endAfterWrite: true });
    expect(documents.batches).toHaveLength(0);
  });
});

describe("bodies nobody wants", () => {
  test("are let through unread: a client that goes on sending sees the answer, and the connection is good for the next", async () => {
    const mib = 1024 * 1024;
    const auth = `Authorization: Bearer ${key}\r\n`;
    const large = `POST /v1/documents HTTP/1.1\r\nHost: x\r\n${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(mib, " "), Buffer.from("\r\n")]);
    const last = "0\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const chunks = Array.from({ length: 30 }, () => chunk);
    const answer = await raw(Buffer.concat([Buffer.from(large), ...chunks, Buffer.from(last)]));
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 404"]);
  });
});

describe("slow clients", () => {
  test("headers that do not arrive within 5 s, and a body that does not within 10 s, are given up", async () => {
    const started = performance.now();
    const auth = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const headers = raw("GET /api/keys HTTP/1.1\r\nHost: x\r\nA: ").then(
      (answer) => [answer, performance.now() - started] as const,
    );
    const body = raw(`POST /v1/documents HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: 100\r\n\r\n{`).then(
      (answer) => [answer, performance.now() - started] as const,
    );
    const [[headAnswer, headMs], [bodyAnswer, bodyMs]] = await Promise.all([headers, body]);
    expect(refusal(headAnswer)).toEqual({ status: 408, code: "REQUEST_TIMEOUT" });
    expect(headMs).toBeLessThan(8_000);
    expect(refusal(bodyAnswer)).toEqual({ status: 408, code: "REQUEST_TIMEOUT" });
    expect(bodyMs).toBeGreaterThan(9_000);
    expect(bodyMs).toBeLessThan(14_000);
  });
});

describe("compression", () => {
  async function compressed(encoding: string): Promise<{ encoding: string | undefined; body: Buffer }> {
    const answer = await raw(
      `GET /v1/documents?type=core/tag HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nAccept-Encoding: ${encoding}\r\n\r\n`,
    );
    const split = answer.indexOf("\r\n\r\n");
    const head = answer.slice(0, split);
    let rest = Buffer.from(answer.slice(split + 4), "latin1");
    expect(head).toMatch(/^vary: .*accept-encoding/im);
    if (/^transfer-encoding: chunked\r?$/im.test(head)) {
      const parts: Buffer[] = [];
      for (;;) {
        const end = rest.indexOf("\r\n");
        const size = Number.parseInt(rest.subarray(0, end).toString(), 16);
        if (size === 0) break;
        parts.push(rest.subarray(end + 2, end + 2 + size));
        rest = rest.subarray(end + 4 + size);
      }
      rest = Buffer.concat(parts);
    }
    return { encoding: /^content-encoding: (\w+)\r?$/im.exec(head)?.[1], body: rest };
  }

  const large = () => `[${JSON.stringify("lorem ipsum ".repeat(400))}]`;

  test("brotli and gzip carry the same bytes, where they are asked for", async () => {
    documents.page = { ...documents.page, itemsJson: large() };
    const plain = await compressed("identity");
    const br = await compressed("gzip, br");
    const gzip = await compressed("gzip");
    expect([plain.encoding, br.encoding, gzip.encoding]).toEqual([undefined, "br", "gzip"]);
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(JSON.parse(plain.body.toString())).toMatchObject({ ok: true });
  });

  test("what is smaller than 1 KiB is left alone", async () => {
    expect((await compressed("br")).encoding).toBeUndefined();
  });

  test("a compressed answer and a plain one have the same weak tag", async () => {
    documents.page = { ...documents.page, itemsJson: large() };
    const get = (encoding: string) =>
      fetch(`${gateway.url}/v1/documents?type=core/tag`, { headers: { ...bearer(key), "accept-encoding": encoding } });
    expect((await get("br")).headers.get("etag")).toBe((await get("identity")).headers.get("etag"));
  });
});

describe("load", () => {
  test("bodies beyond the memory for them are turned away with 503, and the rest is taken", async () => {
    const entered: string[] = [];
    const gate = Promise.withResolvers<void>();
    documents.beforeWork = async () => {
      entered.push("batch");
      await gate.promise;
    };
    const post = () => {
      const id = randomUUID();
      const filler = randomBytes(500_000).toString("hex");
      return fetch(`${gateway.url}/v1/documents`, {
        method: "POST",
        headers: { ...bearer(key), "content-type": "application/json" },
        body: JSON.stringify({ id, type: "core/newswire", title: filler }),
      });
    };
    const answers = Array.from({ length: 80 }, post);
    const early = await Promise.race(answers);
    expect(early.status).toBe(503);
    expect(early.headers.get("retry-after")).toBe("1");
    gate.resolve();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201, 503]));
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(40);
    documents.beforeWork = () => {};
    expect((await post()).status).toBe(201);
  });
});

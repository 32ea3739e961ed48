import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { rawRequest } from "./support/raw-request.ts";
import { spawnGateway } from "./support/spawn-gateway.ts";
import { accessClient, newKey, openGateway } from "./support/start-gateway.ts";

const documents = new FakeDocuments();
let rpc: Awaited<ReturnType<typeof serve>>;
let gateway: Awaited<ReturnType<typeof spawnGateway>>;
let key: string;

beforeAll(async () => {
  rpc = await serve(documents.routes());
  gateway = await spawnGateway({ DOCUMENTS_TARGET: `127.0.0.1:${rpc.port}` });
  key = await newKey(accessClient(gateway.grpcPort), "acme");
});

afterAll(async () => {
  await gateway.stop();
  await rpc[Symbol.asyncDispose]();
});

const get = (target: string, headers = "") =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;
const auth = () => `Authorization: Bearer ${key}\r\n`;
const send = (text: string) => rawRequest(gateway.httpPort, text);

type Line = Readonly<Record<string, string | number>>;

/** The log lines of the request with this id, once there are any. */
async function linesOf(requestId: string | null): Promise<Line[]> {
  return vi.waitFor(() => {
    const parsed = gateway.lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Line);
    const lines = parsed.filter((line) => line["msg"] === "request" && line["requestId"] === requestId);
    expect(lines).not.toEqual([]);
    return lines;
  }, patient);
}

/** How many requests with this method and status were measured. */
async function measured(method: string, status: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.opsPort}/metrics`)).text();
  const counts = [...text.matchAll(/^vidimus_http_handled_seconds_count\{([^}]*)\} (\d+)$/gm)];
  const own = counts.filter(
    ([, labels = ""]) => labels.includes(`method="${method}"`) && labels.includes(`status="${status}"`),
  );
  return own.reduce((sum, [, , count]) => sum + Number(count), 0);
}

const long = "x".repeat(600);

/** Requests that Node or Fastify would answer itself; method and code as they are logged. */
const odd: readonly (readonly [name: string, text: () => string, method: string, status: number, code: string])[] = [
  ["a path that cannot be decoded", () => get("/%zz"), "GET", 400, "INVALID_QUERY"],
  ["a path of bytes that are no UTF-8", () => get("/v1/phrases/%ff", auth()), "GET", 400, "INVALID_QUERY"],
  [
    "a parameter of 600 characters",
    () => get(`/v1/publisher/articles/slug/${long}`, auth()),
    "GET",
    400,
    "INVALID_QUERY",
  ],
  [
    "a parameter of 600 characters and no API key",
    () => get(`/v1/publisher/articles/slug/${long}`),
    "GET",
    401,
    "UNAUTHORIZED",
  ],
  ["an absolute form that leads nowhere", () => get("http://h.example/nowhere"), "GET", 404, "NOT_FOUND"],
  ["an asterisk as its target", () => get("*").replace("GET", "OPTIONS"), "OPTIONS", 404, "NOT_FOUND"],
  ["CONNECT", () => "CONNECT h.example:443 HTTP/1.1\r\nHost: h.example\r\n\r\n", "CONNECT", 405, "METHOD_NOT_ALLOWED"],
  ["an upgrade", () => get("/nowhere", "Connection: upgrade\r\nUpgrade: websocket\r\n"), "GET", 404, "NOT_FOUND"],
  ["HTTP/2 by prior knowledge", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", 400, "INVALID_PAYLOAD"],
  ["a TLS handshake", () => "\x16\x03\x01\x02\x00\x01", "", 400, "INVALID_PAYLOAD"],
  ["no HTTP at all", () => "hello\r\n\r\n", "", 400, "INVALID_PAYLOAD"],
  ["a header of 20,000 characters", () => get("/", `A: ${"a".repeat(20_000)}\r\n`), "", 400, "INVALID_QUERY"],
];

describe("a request that Node or Fastify would answer itself", () => {
  test.each(odd)("with %s is logged once, with its code", async (_, text, method, status, code) => {
    const answer = await send(text());
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ ok: false, error: { code } });
    const lines = await linesOf(answer.headers.get("x-request-id"));
    expect(lines).toMatchObject([{ method, status, code, ms: expect.any(Number) }]);
  });

  test.each(odd)("with %s is measured once", async (_, text, method, status) => {
    const before = await measured(method, status);
    const answer = await send(text());
    await linesOf(answer.headers.get("x-request-id"));
    expect(await measured(method, status)).toBe(before + 1);
  });

  test("counts against the limit of its address, whatever its fault", async () => {
    await using limited = await openGateway({ ipRate: { count: 1, windowMs: 60_000 } });
    for (const [index, [name, text]] of odd.entries()) {
      const from = `127.0.1.${index + 1}`;
      const first = await rawRequest(limited.httpPort, text(), { from });
      expect(first.status, name).not.toBe(429);
      const second = await rawRequest(limited.httpPort, text(), { from });
      expect(second.status, name).toBe(429);
      expect(second.headers.get("retry-after"), name).toMatch(/^\d+$/);
      expect(JSON.parse(second.body), name).toMatchObject({ ok: false, error: { code: "RATE_LIMITED" } });
    }
  });
});

describe("an absolute form", () => {
  test.each(["http://h.example", "HTTPS://user@h.example:8443"])("%s… is served as its path", async (origin) => {
    documents.page = { ...documents.page, itemsJson: '[{"id":"a"}]' };
    const answer = await send(get(`${origin}/v1/documents?type=core/tag&limit=7`, auth()));
    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('[{"id":"a"}]')]);
    expect(documents.lists.at(-1)).toMatchObject({ type: "core/tag", limit: 7 });
    expect(await linesOf(answer.headers.get("x-request-id"))).toMatchObject([{ route: "/v1/documents", status: 200 }]);
  });

  test("without a path is answered 404, as / is", async () => {
    expect((await send(get("/"))).status).toBe(404);
    expect((await send(get("http://h.example"))).status).toBe(404);
    expect((await send(get("http://h.example?type=core/tag"))).status).toBe(404);
  });

  test("with the scheme ftp is answered 400", async () => {
    expect((await send(get("ftp://h.example/v1/documents"))).status).toBe(400);
  });
});

describe("the log line", () => {
  /** The path in the log line of a target that is answered 404. */
  async function pathOf(target: string) {
    const answer = await send(get(target));
    expect(answer.status).toBe(404);
    return (await linesOf(answer.headers.get("x-request-id")))[0]!["path"];
  }

  test("of a 404 has the path without query and fragment", async () => {
    expect(await pathOf("/v1/document?type=SECRET")).toBe("/v1/document");
    expect(await pathOf("/a%C3%BFb#SECRET")).toBe("/a%C3%BFb");
    expect(gateway.lines.join("\n")).not.toContain("SECRET");
  });

  test("of a 404 has at most 200 characters of the path", async () => {
    expect(await pathOf(`/${"a-".repeat(500)}`)).toBe(`/${"a-".repeat(100).slice(0, 199)}…`);
  });

  test("of a 404 for a path with a key has only the beginning of the key", async () => {
    expect(await pathOf(`/v1/${key}/x`)).toBe(`/v1/${key.slice(0, 15)}_…/x`);
    expect(await pathOf(`/%76k${key.slice(2)}`)).toBe(`/%76k${key.slice(2, 15)}_…`);
    expect(gateway.lines.join("\n")).not.toContain(key.slice(16));
  });

  test("of a success has neither code nor path", async () => {
    const answer = await send(get("/v1/documents?type=core/tag", auth()));
    const [line] = await linesOf(answer.headers.get("x-request-id"));
    expect(line).toMatchObject({ status: 200, tenant: "acme" });
    expect(Object.keys(line!)).not.toEqual(expect.arrayContaining(["code"]));
    expect(Object.keys(line!)).not.toEqual(expect.arrayContaining(["path"]));
  });
});

describe("on a connection with a request", () => {
  const post = () =>
    `POST /v1/documents HTTP/1.1\r\nHost: x\r\n${auth()}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;

  test("a body with a bad chunk gets one answer and one log line", async () => {
    documents.batches.length = 0;
    const answer = await send(`${post()}ZZ\r\n{}\r\n0\r\n\r\n`);
    expect(answer.statuses).toEqual([400]);
    const lines = await linesOf(answer.headers.get("x-request-id"));
    expect(lines).toMatchObject([{ route: "/v1/documents", status: 400, code: "INVALID_PAYLOAD" }]);
    expect(documents.batches).toEqual([]);
  });

  test("a body that the client cuts off within a chunk gets one answer and one log line", async () => {
    documents.batches.length = 0;
    const answer = await rawRequest(gateway.httpPort, `${post()}20\r\n{"id":`, { end: true });
    expect(answer.statuses).toEqual([400]);
    const lines = await linesOf(answer.headers.get("x-request-id"));
    expect(lines).toMatchObject([{ route: "/v1/documents", status: 400, code: "INVALID_PAYLOAD", tenant: "acme" }]);
    expect(documents.batches).toEqual([]);
  });

  test("a CONNECT that follows a request does not replace the request's answer", async () => {
    const answer = await send(`GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\nCONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n`);
    expect(answer.statuses[0]).toBe(404);
  });

  test("garbage that follows a request does not replace the request's answer", async () => {
    const before = await measured("", 400);
    const asked = Promise.withResolvers<void>();
    documents.beforeWork = () => asked.promise;
    const body = JSON.stringify({ id: "0b8f2f9e-6f0a-4f43-8f5e-0d8d8f0c2a51", type: "core/tag", title: "x" });
    const answer = send(`${post()}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n\0garbage\r\n\r\n`);
    await vi.waitFor(async () => expect(await measured("", 400)).toBe(before + 1), patient);
    asked.resolve();
    expect((await answer).statuses).toEqual([201]);
  });
});

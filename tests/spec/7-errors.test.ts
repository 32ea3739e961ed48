/** Sections 7 and 9: every error has the envelope and its code. 8-limits tests those with 429. */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusal } from "../support/answers.ts";
import { article, type Newsroom } from "../support/newsroom.ts";
import { callOperation, exampleBody, operations } from "../support/operations.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;
let tenants: Tenants;
let room: Newsroom;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  room = await tenants.create();
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

const json = { "content-type": "application/json" };
const post = (body: NonNullable<RequestInit["body"]>, headers: Record<string, string> = json) =>
  room.request("/v1/documents", { method: "POST", headers, body });

const byUrl = Array.from(
  Map.groupBy(operations, ({ url }) => url),
  ([url, ofUrl]) => ({ url, served: ofUrl.map(({ method }) => method) }),
);

describe("7: each code and its status", () => {
  test("INVALID_PAYLOAD is 400: a malformed body, a missing field, a schema failure", async () => {
    for (const body of ["{", "{}", JSON.stringify(article({ title: 7 }))]) {
      await refusal(post(body), 400, "INVALID_PAYLOAD");
    }
  });

  test("INVALID_QUERY is 400: an updatedSince or limit that is not valid", async () => {
    for (const query of ["updatedSince=now", "limit=0", "limit=201", "limit=many"]) {
      await refusal(room.request(`/v1/documents?type=core/article&${query}`), 400, "INVALID_QUERY");
    }
  });

  test("UNAUTHORIZED is 401 and names the Authorization header", async () => {
    const answer = await fetch(`${stack.dev.gateway}/v1/documents?type=core/article`);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect((await refusal(answer, 401, "UNAUTHORIZED")).message).toContain("Authorization: Bearer");
  });

  test("FORBIDDEN is 403 and names the missing scope", async () => {
    const { key } = await tenants.issue(room.tenantId, ["phrases:read"]);
    const headers = { authorization: `Bearer ${key}` };
    const answer = fetch(`${stack.dev.gateway}/v1/documents?type=core/article`, { headers });
    expect((await refusal(answer, 403, "FORBIDDEN")).message).toContain("publisher:read");
  });

  test("NOT_FOUND is 404: a phrase that does not exist", async () => {
    await refusal(room.request(`/v1/phrases/${randomUUID()}`, { method: "DELETE" }), 404, "NOT_FOUND");
  });

  test("CONFLICT is 409: a document id that is taken", async () => {
    const draft = JSON.stringify(article());
    expect((await post(draft)).status).toBe(201);
    await refusal(post(draft), 409, "CONFLICT");
  });
});

describe("7: unknown paths and parameters, methods and bodies, refused in the envelope", () => {
  test.each([
    "/v1",
    "/v1/",
    "/v1/document",
    "/v1/documents/",
    "/V1/documents",
    "/v1/documents/x/y/z",
    "/v1//documents",
    "/api",
    "/api/keys/",
    "/api/keys/x",
    "/metrics",
    "/readyz",
    "/favicon.ico",
    "/%2e%2e/etc/passwd",
    "/vidimus.documents.v1.DocumentService/CreateDocument",
  ])("an unknown path is 404 with and without a key: %s", async (path) => {
    await refusal(room.request(path), 404, "NOT_FOUND");
    await refusal(room.request(path, { method: "POST", headers: json, body: "{}" }), 404, "NOT_FOUND");
    await refusal(fetch(stack.dev.gateway + path), 404, "NOT_FOUND");
  });

  test("9: a path of another API version is 404, with and without a key", async () => {
    for (const path of ["/v2/documents", "/v0/documents", "/v1.1/documents"]) {
      await refusal(room.request(path), 404, "NOT_FOUND");
      await refusal(fetch(stack.dev.gateway + path), 404, "NOT_FOUND");
    }
  });

  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"];

  test.each(byUrl)("405 with Allow for a method that is not served at $url", async ({ url, served }) => {
    const path = url.replaceAll(/:\w+/g, randomUUID());
    for (const method of methods.filter((name) => !served.includes(name))) {
      const answer = await room.request(path, { method });
      expect([method, answer.status]).toEqual([method, 405]);
      const allowed = (answer.headers.get("allow") ?? "").split(", ");
      expect(allowed).toEqual(expect.arrayContaining(served));
      expect(allowed).not.toContain(method);
      await refusal(answer, 405, "METHOD_NOT_ALLOWED");
    }
  });

  const withBody = operations.filter(({ body }) => body);

  test.each(withBody)("415 for a media type, charset or encoding not taken at $method $url", async (operation) => {
    const path = operation.url.replaceAll(/:\w+/g, randomUUID());
    const type = operation.body!.type;
    for (const headers of [
      { "content-type": "text/plain" },
      { "content-type": "application/xml" },
      { "content-type": `${type}-patch` },
      { "content-type": "multipart/form-data; boundary=x" },
      { "content-type": `${type}; charset=iso-8859-1` },
      { "content-type": type, "content-encoding": "gzip" },
    ]) {
      const body =
        "content-encoding" in headers ? new Uint8Array(gzipSync(exampleBody(operation))) : exampleBody(operation);
      await refusal(room.request(path, { method: operation.method, headers, body }), 415, "UNSUPPORTED_MEDIA_TYPE");
    }
    const untyped = new Blob([exampleBody(operation)]);
    await refusal(room.request(path, { method: operation.method, body: untyped }), 415, "UNSUPPORTED_MEDIA_TYPE");
  });

  test.each(withBody)("413 at $method $url above 10 MiB, with or without Content-Length", async (operation) => {
    const path = operation.url.replaceAll(/:\w+/g, randomUUID());
    const headers = { "content-type": operation.body!.type };
    const large = Buffer.alloc(10 * 1024 * 1024 + 1, 0x20);
    const { method } = operation;
    await refusal(room.request(path, { method, headers, body: large }), 413, "PAYLOAD_TOO_LARGE");
    const chunks = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const at of [0, 6_000_000]) controller.enqueue(large.subarray(at, at + 6_000_000));
        controller.close();
      },
    });
    const streamed = { method, headers, body: chunks, duplex: "half" } as RequestInit;
    await refusal(room.request(path, streamed), 413, "PAYLOAD_TOO_LARGE");
  });

  test("413 for a document of a byte more than 1 MiB, with or without Content-Length", async () => {
    const body = JSON.stringify(article({ content: { text: "x".repeat(1024 * 1024) } })).slice(0, 1024 * 1024 + 1);
    await refusal(post(body), 413, "PAYLOAD_TOO_LARGE");
    const streamed = { method: "POST", headers: json, body: new Blob([body]).stream(), duplex: "half" } as RequestInit;
    await refusal(room.request("/v1/documents", streamed), 413, "PAYLOAD_TOO_LARGE");
  });

  test.each(operations.filter(({ url }) => url.startsWith("/v1/")))(
    "INVALID_QUERY names an unknown parameter at $method $url",
    async (operation) => {
      const variation = { authorization: `Bearer ${room.apiKey}`, query: { surprise: "1" } };
      const { message } = await refusal(callOperation(stack.dev.gateway, operation, variation), 400, "INVALID_QUERY");
      expect(message).toContain('"surprise"');
    },
  );
});

describe("7: which of several faults is reported", () => {
  const bad = { authorization: "Bearer vk_x_y" };

  test("404 and 405 before 401, then 403, 415, 400 of the query and 400 of the body", async () => {
    const { key } = await tenants.issue(room.tenantId, ["phrases:read"]);
    const without = { authorization: `Bearer ${key}` };
    const text = { "content-type": "text/plain" };
    const send = (path: string, method: string, headers: Record<string, string>) =>
      room.request(path, { method, headers, body: "{" });
    await refusal(send("/nowhere", "POST", { ...bad, ...text }), 404, "NOT_FOUND");
    await refusal(send("/v1/documents", "PUT", { ...bad, ...text }), 405, "METHOD_NOT_ALLOWED");
    await refusal(send("/v1/documents?x=1", "POST", { ...bad, ...text }), 401, "UNAUTHORIZED");
    await refusal(send("/v1/documents?x=1", "POST", { ...without, ...text }), 403, "FORBIDDEN");
    await refusal(send("/v1/documents?x=1", "POST", text), 415, "UNSUPPORTED_MEDIA_TYPE");
    await refusal(send("/v1/documents?x=1", "POST", json), 400, "INVALID_QUERY");
    await refusal(send("/v1/documents", "POST", json), 400, "INVALID_PAYLOAD");
  });

  test("401 comes before 413, so a caller without a valid key does not learn the size limit", async () => {
    const body = Buffer.alloc(2 * 1024 * 1024);
    await refusal(
      room.request("/v1/documents", { method: "POST", headers: { ...bad, ...json }, body }),
      401,
      "UNAUTHORIZED",
    );
  });
});

describe("7: malformed HTTP", () => {
  /** Writes bytes to the public port. Returns status and body once the connection has ended. */
  function raw(text: string): Promise<{ status: number; body: string }> {
    const { hostname, port } = new URL(stack.dev.gateway);
    return new Promise((resolve, reject) => {
      let answer = "";
      const socket = connect(Number(port), hostname, () => socket.write(text));
      socket.setTimeout(15_000, () => reject(new Error(`no end to: ${answer.slice(0, 200)}`)));
      socket.on("data", (chunk) => (answer += chunk.toString("latin1"))).on("error", reject);
      socket.on("close", () => {
        const [head = "", ...rest] = answer.split("\r\n\r\n");
        resolve({ status: Number(head.split(" ")[1]), body: rest.join("\r\n\r\n") });
      });
    });
  }

  test.each([
    ["no HTTP at all", "hello\r\n\r\n", 400],
    ["a broken escape in the path", "GET /v1/% HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400],
    ["no Host", "GET /api/keys HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["a bad length", "POST /v1/documents HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400],
    [
      "a length and chunks",
      "POST /v1/documents HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    ["a header of 70,000 characters", `GET /api/keys HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(70_000)}\r\n\r\n`, 400],
  ])("%s: one 400, in the envelope", async (_, request, expected) => {
    const { status, body } = await raw(request);
    expect(status).toBe(expected);
    expect(JSON.parse(body)).toEqual({
      ok: false,
      error: { code: expect.stringMatching(/^[A-Z_]+$/) as string, message: expect.stringMatching(/\S/) as string },
    });
  });
});

const optionsOf = (url: string) => room.request(url.replaceAll(/:\w+/g, randomUUID()), { method: "OPTIONS" });

test.each(byUrl)("OPTIONS is 204 with the served methods in Allow: $url", async ({ url, served }) => {
  const options = await optionsOf(url);
  expect([options.status, await options.text()]).toEqual([204, ""]);
  expect(options.headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining(served));
});

test("OPTIONS allows pages of other origins at /api/keys, and at no other URL", async () => {
  for (const { url } of byUrl) {
    const { headers } = await optionsOf(url);
    expect([url, headers.get("access-control-allow-origin")]).toEqual([url, url === "/api/keys" ? "*" : null]);
  }
});

/** A success, the trust list, a refusal and a 404. */
const answersOfEachKind = () =>
  Promise.all(
    ["/v1/documents?type=core/tag", "/api/keys", "/v1/documents", "/nowhere"].map((path) =>
      room.request(path, { headers: { "x-request-id": "mine" } }),
    ),
  );

test("answers of four kinds each have a request id of their own, not the caller's", async () => {
  const answers = await answersOfEachKind();
  const ids = answers.map(({ headers }) => headers.get("x-request-id"));
  expect(new Set(ids).size).toBe(4);
  expect(ids).not.toContain("mine");
});

test("answers of four kinds have X-Content-Type-Options: nosniff", async () => {
  for (const { headers } of await answersOfEachKind()) expect(headers.get("x-content-type-options")).toBe("nosniff");
});

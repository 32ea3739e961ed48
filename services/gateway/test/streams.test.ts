import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defineRoute } from "../src/http/route.ts";
import { bearer } from "./support/start-gateway.ts";
import { serveRoutes } from "./support/serve-routes.ts";

const part = `${"0123456789".repeat(1_000)}\n`;
let opened = 0;
let closed = 0;
let arrived: AbortController;
let parts: () => AsyncGenerator<string>;

/** Streams what the test has set in `parts`. */
const exportRoute = defineRoute({
  method: "GET",
  url: "/v1/export",
  scope: "phrases:read",
  doc: { operationId: "x", summary: "x", success: { status: 200, description: "x", content: {} } },
  handler: () => async () => ({
    status: 200,
    headers: { "content-type": "text/csv; charset=utf-8", etag: 'W/"x"' },
    body: () => {
      opened += 1;
      return Readable.from(parts(), { objectMode: false }).on("close", () => (closed += 1));
    },
  }),
});

let server: Awaited<ReturnType<typeof serveRoutes>>["server"];
let key: string;

beforeAll(async () => {
  ({ server, key } = await serveRoutes([exportRoute], { slots: 2 }));
});

afterAll(() => server[Symbol.asyncDispose]());

beforeEach(() => {
  opened = closed = 0;
  arrived = new AbortController();
  parts = async function* parts() {
    for (let at = 0; at < 100; at += 1) yield part;
  };
});

const get = (headers: Record<string, string> = {}, method = "GET") =>
  fetch(`http://127.0.0.1:${server.port}/v1/export`, { method, headers: { ...bearer(key), ...headers } });

describe("a streamed answer", () => {
  test.each(["identity", "gzip", "br"])("arrives whole as %s", async (encoding) => {
    const response = await get({ "accept-encoding": encoding });
    expect(response.headers.get("content-encoding")).toBe(encoding === "identity" ? null : encoding);
    expect(await response.text()).toBe(part.repeat(100));
    expect([opened, closed]).toEqual([1, 1]);
  });

  test("is sent with its length when it is short", async () => {
    parts = async function* parts() {
      yield part;
      yield part;
    };
    const response = await get({ "accept-encoding": "identity" });
    expect(response.headers.get("content-length")).toBe(String(2 * part.length));
    expect(await response.text()).toBe(part.repeat(2));
    expect([opened, closed]).toEqual([1, 1]);
  });

  test("is not even opened for HEAD", async () => {
    const response = await get({}, "HEAD");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(opened).toBe(0);
  });

  test.each(["identity", "gzip", "br"])(
    "in %s that breaks is cut off, not ended as if it were whole",
    async (encoding) => {
      parts = async function* parts() {
        // Noise, which no compressor can hold back for long.
        while (!arrived.signal.aborted) {
          yield randomBytes(10_000).toString("latin1");
          await turn();
        }
        throw new Error("the cursor died");
      };
      const { text } = await raw(encoding);
      expect(text).toMatch(/^HTTP\/1.1 200 /);
      expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
    },
  );

  test.each(["identity", "gzip", "br"])(
    "in %s that breaks resets the connection of HTTP/1.0, where an end would make it look whole",
    async (encoding) => {
      parts = async function* parts() {
        while (!arrived.signal.aborted) {
          yield randomBytes(10_000).toString("latin1");
          await turn();
        }
        throw new Error("the cursor died");
      };
      const { text, error } = await raw(encoding, "1.0");
      expect(text).toMatch(/^HTTP\/1.1 200 /);
      expect(text).not.toMatch(/content-length|transfer-encoding/i);
      expect(error).toBe("ECONNRESET");
    },
  );

  test("that still runs when the drain time of a stopping gateway is over is reset", async () => {
    const stopping = await serveRoutes([exportRoute], {}, 0);
    parts = async function* parts() {
      yield part.repeat(10);
      await new Promise(() => {});
    };
    const cut = raw("identity", "1.0", stopping);
    await once(arrived.signal, "abort");
    await stopping.server[Symbol.asyncDispose]();
    expect(await cut).toMatchObject({ text: expect.stringMatching(/^HTTP\/1.1 200 /) as string, error: "ECONNRESET" });
  });

  test.each(["identity", "gzip", "br"])(
    "in %s that breaks before its first byte becomes a 500 in the envelope",
    async (encoding) => {
      parts = async function* parts() {
        yield* [];
        throw new Error("the cursor died");
      };
      const response = await get({ "accept-encoding": encoding });
      expect(response.status).toBe(500);
      expect(response.headers.get("content-encoding")).toBeNull();
      expect(response.headers.get("etag")).toBeNull();
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(await response.json()).toEqual({ ok: false, error: { code: "INTERNAL", message: "internal error" } });
    },
  );

  /**
   * What a client gets of an export until its connection ends, and the code of the error that ends
   * it.
   */
  function raw(
    encoding: string,
    version = "1.1",
    from = { server, key },
  ): Promise<{ text: string; error: string | undefined }> {
    const head = `GET /v1/export HTTP/${version}\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${from.key}\r\n`;
    return new Promise((resolve) => {
      const socket = connect(from.server.port, "127.0.0.1", () =>
        socket.write(`${head}Accept-Encoding: ${encoding}\r\n\r\n`),
      );
      let text = "";
      let error: string | undefined;
      socket.on("data", (chunk) => {
        arrived.abort();
        text += chunk.toString("latin1");
      });
      socket.on("error", ({ code }: NodeJS.ErrnoException) => (error = code));
      socket.on("close", () => resolve({ text, error }));
    });
  }

  test("holds no slot while it is sent: more streams run than there are slots", async () => {
    const end = Promise.withResolvers<void>();
    parts = async function* parts() {
      yield part.repeat(10);
      await end.promise;
    };
    const responses = await Promise.all(Array.from({ length: 5 }, () => get()));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    end.resolve();
    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(Array(5).fill(part.repeat(10)));
  });

  test("is closed when the client goes away", async () => {
    const gone = Promise.withResolvers<void>();
    parts = async function* parts() {
      try {
        for (;;) yield part;
      } finally {
        gone.resolve();
      }
    };
    const leave = new AbortController();
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/export`, {
      headers: bearer(key),
      signal: leave.signal,
    });
    await response.body!.getReader().read();
    leave.abort();
    await gone.promise;
  });
});

import { Code, ConnectError } from "@connectrpc/connect";
import { DomainError } from "@vidimus/kit/errors";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { Writable } from "node:stream";
import { promisify } from "node:util";
import { Registry } from "prom-client";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { html } from "../markup/html.ts";
import { createApp } from "./create-app.ts";
import type { OpenRoute } from "./route.ts";

const lines: string[] = [];
const destination = new Writable({
  write(line, _, done) {
    lines.push(String(line));
    done();
  },
});
let app: Awaited<ReturnType<typeof createApp>>;
const browserLeft = Promise.withResolvers<void>();
const handled = vi.fn<(form: URLSearchParams) => void>();

const formRoute: OpenRoute = {
  access: "open",
  method: "POST",
  url: "/form",
  handle: async ({ form }) => {
    handled(form);
    return { to: "/" };
  },
};
/** Has the parameter of a tenant's page, because tenants take turns at uploads. */
const uploadRoute: OpenRoute = {
  access: "open",
  method: "POST",
  url: "/:tenant/upload",
  handle: (call) =>
    call.withUpload({ fileBytesMax: 0, textBytesMax: 100 }, async ({ form }) => {
      handled(form);
      if (form.get("a") === "refused") throw new DomainError("conflict", "not this one");
      return { to: "/" };
    }),
};

const partRoute: OpenRoute = {
  access: "open",
  method: "GET",
  url: "/part",
  handle: async (call) => {
    call.noteMissing("delivery", new DomainError("unavailable", "it is down"));
    return { status: 200, page: html`whole` };
  },
};

/** Fails as a call to a service does when the browser has left. */
const askingRoute: OpenRoute = {
  access: "open",
  method: "GET",
  url: "/asking",
  handle: async () => {
    await browserLeft.promise;
    throw new ConnectError("This operation was aborted", Code.Canceled);
  },
};

beforeAll(async () => {
  app = await createApp({
    origin: new URL("http://x"),
    isLoopback: true,
    trustedProxies: [],
    routes: [formRoute, uploadRoute, partRoute, askingRoute],
    log: createLogger("console", "info", destination),
    registry: new Registry(),
    errorPage: ({ title, detail }, { id }) =>
      html`<h1>${title}</h1>
        ${detail} ${id}`,
    sendAgainPage: () => html``,
    findPerson: async () => undefined,
    now: () => new Date(),
  });
  await app.listen({ port: 0 });
});
beforeEach(() => {
  lines.splice(0);
  handled.mockClear();
  app.server.requestTimeout = 60_000;
  app.server.headersTimeout = 5_000;
});
afterAll(async () => {
  app.server.closeAllConnections();
  await app.close();
});

const open = () => connect((app.server.address() as AddressInfo).port);

/** Checks that an answer is one page with the security headers. */
function expectPage(answer: string, status: number, detail: string): void {
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer.match(/^HTTP\//gm)).toHaveLength(1);
  expect(answer).toMatch(/^content-security-policy: default-src 'none'/im);
  expect(answer).toMatch(/^content-type: text\/html; charset=utf-8\r$/im);
  expect(answer).toContain(detail);
}

/** Checks that a request was logged once, under the id that its page shows. */
async function expectLine(answer: string, status: number): Promise<void> {
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  const { msg, requestId, ...line } = JSON.parse(lines[0]!) as Record<string, unknown>;
  expect(line).toMatchObject({ level: "info", route: "", status });
  expect([msg, answer]).toEqual(["request", expect.stringContaining(String(requestId))]);
}

const refused: [string, head: string, status: number, detail: string][] = [
  ["for a path that cannot be decoded", "GET /%zz HTTP/1.1\r\nHost: x\r\n", 404, "There is nothing at this address."],
  ["to a wrong host", "GET /%zz HTTP/1.1\r\nHost: y\r\n", 421, "not the one that this console serves"],
  ["that is no HTTP", "hello\r\n", 400, "The console cannot read this request."],
  ["with too long headers", `GET / HTTP/1.1\r\nHost: x\r\nCookie: ${"x".repeat(20_000)}\r\n`, 431, "too long"],
];

function send(head: string): Promise<string> {
  const socket = open();
  socket.write(`${head}Connection: close\r\n\r\n`);
  return text(socket);
}

test.each(refused)("a request %s gets a page with a content security policy", async (...row) => {
  const [, head, status, detail] = row;
  expectPage(await send(head), status, detail);
});

test.each(refused)("a request %s is logged once, under the id that its page shows", async (_, head, status) => {
  await expectLine(await send(head), status);
});

test("a request whose head comes late is answered with a 408 page, and its rest is not handled", async () => {
  app.server.headersTimeout = 100;
  const socket = connect({ port: (app.server.address() as AddressInfo).port, allowHalfOpen: true });
  socket.on("error", () => {});
  socket.write("POST /form HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\n");
  const chunks: string[] = [];
  socket.on("data", (bytes) => chunks.push(String(bytes)));
  await once(socket, "end");
  expectPage(chunks.join(""), 408, "The request did not arrive in time.");
  await expectLine(chunks.join(""), 408);
  socket.write("Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b");
  await expect.poll(openConnections, { timeout: 3_000 }).toBe(0);
  expect(handled).not.toHaveBeenCalled();
  expect(lines).toHaveLength(1);
});

const urlEncoded = "Content-Type: application/x-www-form-urlencoded";
const multipart = "Content-Type: multipart/form-data; boundary=b";
const field = (value: string) => `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${value}\r\n--b--\r\n`;
const post = (path: string, ...headers: readonly string[]) =>
  [`POST ${path} HTTP/1.1`, "Host: x", "Origin: http://x", ...headers, "\r\n"].join("\r\n");
const openConnections = () => promisify(app.server.getConnections.bind(app.server))();

const half = field("x").slice(0, 20);
const chunk = `${half.length.toString(16)}\r\n${half}\r\n`;

test.each([
  ["/form", "late", post("/form", urlEncoded, "Content-Length: 9") + "a=b", "&c=d&e"],
  ["/:tenant/upload", "late", post("/demo/upload", multipart, "Content-Length: 90") + half, "x"],
  ["/form", "broken", post("/form", urlEncoded, "Transfer-Encoding: chunked") + "3\r\na=b\r\n", "no chunk\r\n"],
  ["/:tenant/upload", "broken", post("/demo/upload", multipart, "Transfer-Encoding: chunked") + chunk, "no chunk\r\n"],
])("a POST %s with a %s body gets no answer and one log line, and blocks no upload", async (...row) => {
  const [route, fault, begin, rest] = row;
  const isLate = fault === "late";
  if (isLate) app.server.requestTimeout = app.server.headersTimeout = 200;
  // Two at once: the first upload holds the only turn of its tenant, the second waits for it, and
  // neither may keep it.
  const answers = await Promise.all(
    [open(), open()].map(async (socket) => {
      const closed = once(socket, "close");
      socket.on("error", () => {});
      const chunks: string[] = [];
      socket.on("data", (bytes) => chunks.push(String(bytes)));
      const arrived = once(app.server, "request");
      socket.write(begin);
      await arrived;
      if (!isLate) socket.write(rest);
      await closed;
      return chunks.join("");
    }),
  );
  expect(answers).toEqual(["", ""]);
  await vi.waitFor(() => expect(lines).toHaveLength(2));
  const line = expect.objectContaining({ level: "info", route, status: 400 });
  expect(lines.map((each) => JSON.parse(each) as unknown)).toEqual([line, line]);
  expect(handled).not.toHaveBeenCalled();
  app.server.requestTimeout = 60_000;
  expect(await upload("x")).toBe(303);
});

test("an upload whose page refuses it releases its turn", async () => {
  for (const value of ["refused", "refused", "refused"]) expect(await upload(value)).toBe(409);
  expect(await upload("x")).toBe(303);
});

test("an upload whose browser leaves while it waits ends before its turn, and leaves the turn free", async () => {
  const begin = async (tenant: string) => {
    const socket = open();
    const arrived = once(app.server, "request");
    socket.write(post(`/${tenant}/upload`, multipart, "Content-Length: 90") + half);
    await arrived;
    return socket;
  };
  const running = [await begin("demo"), await begin("times")];
  const waiting = await begin("post");
  waiting.destroy();
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: "info", route: "/:tenant/upload", status: 400 });
  for (const socket of running) socket.destroy();
  await vi.waitFor(() => expect(lines).toHaveLength(3));
  expect(await upload("x", "post")).toBe(303);
});

test("a page whose browser leaves while a service is asked has one log line, at level info", async () => {
  const connected = once(app.server, "connection");
  const socket = open();
  const [connection] = await connected;
  const arrived = once(app.server, "request");
  socket.write("GET /asking HTTP/1.1\r\nHost: x\r\n\r\n");
  await arrived;
  const closed = once(connection, "close");
  socket.destroy();
  await closed;
  browserLeft.resolve();
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: "info", route: "/asking", status: 400 });
});

async function upload(value: string, tenant = "demo"): Promise<number> {
  const socket = open();
  const body = field(value);
  socket.write(post(`/${tenant}/upload`, multipart, `Content-Length: ${body.length}`, "Connection: close") + body);
  return Number((await text(socket)).split(" ")[1]);
}

test("a missing part of a page has a log line with the service that did not answer, and why", async () => {
  const socket = open();
  socket.write("GET /part HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect(await text(socket)).toContain("whole");
  await vi.waitFor(() => expect(lines).toHaveLength(2));
  const [missing, request] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const err = expect.objectContaining({ message: "it is down" });
  expect(missing).toMatchObject({ level: "warn", service: "console", missing: "delivery", err });
  expect(missing!["requestId"]).toBe(request!["requestId"]);
});

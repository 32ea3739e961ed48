import type { FastifyInstance } from "fastify";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createApp } from "./create-app.ts";
import { OpenConnections } from "./open-connections.ts";
import { UnreadableRequests } from "./unreadable-requests.ts";

let app: FastifyInstance;

beforeEach(async () => {
  const connections = new OpenConnections();
  const limits = { countRequest: () => {} };
  app = createApp([], new UnreadableRequests({ limits, record: () => {}, help: undefined, connections }));
  connections.watch(app);
  app.get("/silent", () => Readable.from(once()));
  await app.listen({ host: "127.0.0.1", port: 0 });
  app.server.setTimeout(200);
});

afterEach(() => app.close());

/** A stream that yields one value and then never ends. */
async function* once() {
  yield "begun";
  await new Promise(() => {});
}

/**
 * Sends a request on a new connection. Resolves with "ended", or the code of the connection's
 * error.
 */
function endOf(request: string): Promise<string> {
  const { port } = app.server.address() as { port: number };
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.on("data", () => {});
    socket.on("error", ({ code = "" }: NodeJS.ErrnoException) => resolve(code));
    socket.on("end", () => resolve("ended"));
  });
}

test("a connection that is silent for too long in the middle of an answer is reset", async () => {
  expect(await endOf("GET /silent HTTP/1.0\r\n\r\n")).toBe("ECONNRESET");
});

test("a connection that is silent for too long without a request is ended, not reset", async () => {
  expect(await endOf("")).toBe("ended");
});

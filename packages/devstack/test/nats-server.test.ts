import { once } from "node:events";
import { access, mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { openNats } from "../src/backing/backing.ts";
import { openNatsServer } from "../src/backing/nats-server.ts";
import type { BackingServer } from "../src/backing/server.ts";

let dir: string;
let dataDir: string;
let opened: AsyncDisposableStack;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "nats-test-"));
  dataDir = join(dir, "data");
  opened = new AsyncDisposableStack();
});
afterEach(async () => {
  await opened.disposeAsync();
  await rm(dir, { recursive: true, force: true });
});

async function open(port = 0): Promise<BackingServer> {
  return opened.use(await openNatsServer({ dataDir, port, logFile: join(dir, "nats-server.log") }));
}

/** Makes one JetStream API call in NATS's text protocol, because devstack has no NATS client. */
async function ask(url: string, subject: string, body: object | undefined): Promise<unknown> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  const payload = body === undefined ? "" : JSON.stringify(body);
  socket.write(
    `CONNECT {"verbose":false}\r\nSUB _INBOX.1 1\r\nPUB ${subject} _INBOX.1 ${payload.length}\r\n${payload}\r\n`,
  );
  try {
    for await (const line of createInterface(socket)) if (line.startsWith("{")) return JSON.parse(line);
    throw new Error("nats-server hung up");
  } finally {
    socket.destroy();
  }
}

test("a stream with its message survives a stop and a start on another port", async () => {
  const first = await open();
  const config = { name: "KEPT", subjects: ["kept.>"], storage: "file" };
  expect(await ask(first.url, "$JS.API.STREAM.CREATE.KEPT", config)).toMatchObject({ did_create: true });
  expect(await ask(first.url, "kept.1", {})).toMatchObject({ seq: 1 });
  await first[Symbol.asyncDispose]();
  const second = await open();
  expect(second.url).not.toBe(first.url);
  expect(await ask(second.url, "$JS.API.STREAM.INFO.KEPT", undefined)).toMatchObject({
    config,
    state: { messages: 1 },
  });
});

test("a second start on a data folder in use is refused, naming the server that uses it", async () => {
  const first = await open();
  await expect(open()).rejects.toThrow(`${dataDir} is in use by nats-server ${first.pid}`);
});

test("the error for a taken port names NATS_PORT, by which another port is chosen", async () => {
  const taken = Number(new URL(inject("natsUrl")).port);
  await expect(open(taken)).rejects.toThrow(/^port \d+ is taken .* set NATS_PORT to another$/);
});

const env = { NATS_URL: inject("natsUrl") };
const openExternal = () => openNats({ dataDir, port: 0, logFile: join(dir, "nats-server.log") }, env);

test("with NATS_URL set no server is started", async () => {
  await using external = await openExternal();
  expect(external).toMatchObject({ url: env.NATS_URL, pid: undefined });
  await expect(access(join(dir, "nats-server.log"))).rejects.toThrow("ENOENT");
});

test("disposing of the server of NATS_URL does not stop it", async () => {
  const external = await openExternal();
  await external[Symbol.asyncDispose]();
  expect(await ask(env.NATS_URL, "$JS.API.INFO", undefined)).toMatchObject({
    type: "io.nats.jetstream.api.v1.account_info_response",
  });
});

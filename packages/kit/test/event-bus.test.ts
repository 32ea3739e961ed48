import { openNatsServer } from "@vidimus/devstack/backing/nats-server";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { Registry } from "prom-client";
import { connect } from "nats";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type EventBus, openEventBus, type StreamSpec } from "@vidimus/kit/nats/event-bus";
import { pickFreePort } from "@vidimus/devstack/port-guard";

const stream: StreamSpec = { name: "TEST", subjects: ["test.*"], ageMsMax: 60_000, bytesMax: 65_536, replicas: 1 };
const log = pino({ level: "silent" });
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

let dir: string;
let port: number;
const opened: AsyncDisposable[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "vidimus-bus-"));
  port = await pickFreePort();
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const startBroker = (store = "nats") =>
  openNatsServer({ dataDir: join(dir, store), port, logFile: join(dir, "nats.log") });

function openBus(name: string): EventBus {
  const bus = openEventBus({ url: `nats://127.0.0.1:${port}`, name, log, registry: new Registry() });
  opened.push(bus);
  return bus;
}

/** Settings and number of messages of the stream; rejects while there is no stream. */
async function streamInfo() {
  const connection = await connect({ servers: `127.0.0.1:${port}`, timeout: 2_000 });
  try {
    const { streams } = await connection.jetstreamManager();
    const { config, state } = await streams.info(stream.name);
    return { subjects: config.subjects, bytesMax: config.max_bytes, messages: state.messages };
  } finally {
    await connection.close();
  }
}

const settings = { subjects: stream.subjects, bytesMax: stream.bytesMax };
const soon = { timeout: 10_000, interval: 100 };

describe("keepStream", () => {
  it("makes a stream that stores broadcasts of its subjects", async () => {
    opened.push(await startBroker());
    const bus = openBus("keeper");
    bus.keepStream(stream);
    await expect.poll(streamInfo, soon).toMatchObject(settings);
    bus.broadcast("test.a", bytes("a"));
    bus.broadcast("other.a", bytes("b"));
    await expect.poll(streamInfo, soon).toMatchObject({ messages: 1 });
  });

  it("gives an existing stream the subjects and maximum size that are asked for last", async () => {
    opened.push(await startBroker());
    openBus("keeper").keepStream(stream);
    await expect.poll(streamInfo, soon).toMatchObject(settings);
    openBus("newer").keepStream({ ...stream, subjects: ["test.*", "more"], bytesMax: 32_768 });
    await expect.poll(streamInfo, soon).toMatchObject({ subjects: ["test.*", "more"], bytesMax: 32_768 });
  });

  it("makes the stream again when the broker was killed and comes back with an empty store", async () => {
    const bus = openBus("keeper");
    bus.keepStream(stream);
    const first = await startBroker("first");
    await expect.poll(streamInfo, soon).toMatchObject(settings);
    process.kill(first.pid!, "SIGKILL");
    await first.exited;
    opened.push(await startBroker("second"));
    await expect.poll(streamInfo, soon).toMatchObject({ ...settings, messages: 0 });
  });
});

describe("the event bus", () => {
  it("drops a broadcast made before there is a broker, and delivers a later one", async () => {
    const bus = openBus("early");
    const received: string[] = [];
    bus.onBroadcast("evict", (data) => received.push(text(data)));
    bus.broadcast("evict", bytes("lost"));
    opened.push(await startBroker());
    await vi.waitFor(() => bus.ping(), soon);
    bus.broadcast("evict", bytes("key"));
    await expect.poll(() => received, soon).toEqual(["key"]);
  });

  it("stops passing broadcasts to a subscription once it is disposed", async () => {
    opened.push(await startBroker());
    const bus = openBus("both");
    const [left, kept]: string[][] = [[], []];
    const subscription = bus.onBroadcast("evict", (data) => left!.push(text(data)));
    bus.onBroadcast("evict", (data) => kept!.push(text(data)));
    await vi.waitFor(() => bus.ping(), soon);
    bus.broadcast("evict", bytes("a"));
    await expect.poll(() => kept, soon).toEqual(["a"]);
    subscription[Symbol.dispose]();
    bus.onBroadcast("evict", () => {})[Symbol.dispose]();
    bus.broadcast("evict", bytes("b"));
    await expect.poll(() => kept, soon).toEqual(["a", "b"]);
    expect(left).toEqual(["a"]);
  });

  it("delivers a broadcast to a subscriber on another bus", async () => {
    opened.push(await startBroker());
    const sender = openBus("sender");
    const listener = openBus("listener");
    const received: string[] = [];
    listener.onBroadcast("evict", (data) => received.push(text(data)));
    await vi.waitFor(
      () => {
        sender.broadcast("evict", bytes("key"));
        expect(received).toContain("key");
      },
      { timeout: 5_000 },
    );
  });
});

import { openNatsServer } from "@vidimus/devstack/backing/nats-server";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type EventBus, openEventBus, type StreamSpec } from "@vidimus/kit/nats/event-bus";
import { pickFreePort } from "@vidimus/devstack/port-guard";

const stream: StreamSpec = { name: "TEST", subjects: ["test.v1"], ageMsMax: 60_000 };
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

function collect(bus: EventBus, handle = async () => {}): string[] {
  const got: string[] = [];
  bus.consume(
    { stream, durable: "reader", ackWaitMs: 2_000, batchMax: 8 },
    {
      parse: text,
      handle: async (batch) => {
        await handle();
        got.push(...batch);
      },
    },
  );
  return got;
}

const publish = (bus: EventBus, message: string) =>
  vi.waitFor(() => bus.publish(stream, "test.v1", bytes(message), message), { timeout: 10_000 });

describe("the event bus", () => {
  it("delivers every message to the durable consumer, and one message id once", async () => {
    opened.push(await startBroker());
    const bus = openBus("both");
    const got = collect(bus);
    for (const message of ["a", "b", "b", "c"]) await publish(bus, message);
    await vi.waitFor(() => expect(got).toEqual(["a", "b", "c"]), { timeout: 5_000 });
  });

  it("delivers a batch again when its handler fails", async () => {
    opened.push(await startBroker());
    const bus = openBus("both");
    let calls = 0;
    const got = collect(bus, async () => {
      calls += 1;
      if (calls === 1) throw new Error("not now");
    });
    await publish(bus, "a");
    await vi.waitFor(() => expect(got).toEqual(["a"]), { timeout: 10_000 });
    expect(calls).toBe(2);
  });

  it("opens without a broker, refuses to publish, and works once there is one", async () => {
    const bus = openBus("early");
    await expect(bus.publish(stream, "test.v1", bytes("a"), "a")).rejects.toThrow("not connected");
    const got = collect(bus);
    opened.push(await startBroker());
    await publish(bus, "b");
    await vi.waitFor(() => expect(got).toEqual(["b"]), { timeout: 10_000 });
  });

  it("goes on after the broker was killed and its store wiped", async () => {
    const first = await startBroker("first");
    const bus = openBus("both");
    const got = collect(bus);
    await publish(bus, "a");
    await vi.waitFor(() => expect(got).toEqual(["a"]), { timeout: 5_000 });
    process.kill(first.pid!, "SIGKILL");
    await first.exited;
    opened.push(await startBroker("second"));
    await publish(bus, "b");
    await vi.waitFor(() => expect(got).toEqual(["a", "b"]), { timeout: 15_000 });
  });

  it("broadcasts to the processes that are subscribed", async () => {
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

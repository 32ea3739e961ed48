import { startChild } from "@vidimus/devstack/child";
import { findBinary } from "@vidimus/devstack/backing/find-binary";
import { waitForListener } from "@vidimus/devstack/backing/server";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { connect } from "nats";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { Registry } from "prom-client";
import { describe, expect, inject, it, vi } from "vitest";
import { patient } from "../src/testing/patient.ts";
import { ConfigError } from "@vidimus/kit/env";
import { type EventBus, openEventBus } from "@vidimus/kit/nats/event-bus";
import { BrokerConnection } from "@vidimus/kit/nats/connection";
import { portOf } from "@vidimus/kit/port";
import { openMutableProxy } from "./support/mutable-proxy.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

/** Opens a bus, and gives access to its log lines and its failure counts. */
function openBus(stack: AsyncDisposableStack, url = inject("natsUrl")) {
  const lines: string[] = [];
  const registry = new Registry();
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const bus = stack.use(openEventBus({ url, name: "faults", log, registry }));
  const failures = async () => {
    const metric = await registry.getSingleMetric("vidimus_bus_handling_failures_total")?.get();
    return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels["source"], value]) ?? []);
  };
  return { bus, lines, failures, said: (words: string) => lines.filter((line) => line.includes(words)) };
}

const isUp = (bus: EventBus) => vi.waitFor(() => bus.ping(), patient);

describe("a message for which the handler throws", () => {
  /** Broadcasts two messages for which the handler throws, and one that it takes. */
  async function broadcastThree(stack: AsyncDisposableStack) {
    const subject = testDatabaseName("subject");
    const opened = openBus(stack);
    const received: string[] = [];
    opened.bus.onBroadcast(subject, (data) => {
      if (text(data).startsWith("hello")) throw new Error("no reference");
      received.push(text(data));
    });
    await isUp(opened.bus);
    for (const message of ["hello 1", "hello 2", "a"]) opened.bus.broadcast(subject, bytes(message));
    await vi.waitFor(() => expect(received).toEqual(["a"]), patient);
    return { ...opened, subject };
  }

  it("leaves the subscription and the connection alive", async () => {
    await using stack = new AsyncDisposableStack();
    const { bus } = await broadcastThree(stack);
    await bus.ping();
  });

  it("is counted", async () => {
    await using stack = new AsyncDisposableStack();
    const { failures, subject } = await broadcastThree(stack);
    expect(await failures()).toEqual({ [subject]: 2 });
  });

  it("is logged, and a second one right after it is not", async () => {
    await using stack = new AsyncDisposableStack();
    const { said } = await broadcastThree(stack);
    expect(said("no reference")).toHaveLength(1);
  });
});

describe("a stream that cannot be made", () => {
  /** Opens a bus that keeps a stream of three replicas, which a single broker cannot make. */
  async function keepThree(stack: AsyncDisposableStack) {
    const subject = testDatabaseName("subject");
    const opened = openBus(stack);
    const limits = { ageMsMax: 60_000, bytesMax: 65_536, replicas: 3 };
    opened.bus.keepStream({ name: subject.toUpperCase(), subjects: [subject], ...limits });
    await isUp(opened.bus);
    const { said } = opened;
    await vi.waitFor(() => expect(said("stream of the broker cannot be made")).toHaveLength(1), patient);
    return { ...opened, subject };
  }

  it("is logged", async () => {
    await using stack = new AsyncDisposableStack();
    await keepThree(stack);
  });

  it("does not hinder broadcasts of its subject", async () => {
    await using stack = new AsyncDisposableStack();
    const { bus, subject } = await keepThree(stack);
    const received: string[] = [];
    bus.onBroadcast(subject, (data) => void received.push(text(data)));
    await bus.ping();
    bus.broadcast(subject, bytes("a"));
    await vi.waitFor(() => expect(received).toEqual(["a"]), patient);
    await bus.ping();
  });
});

describe("a bus that is being closed", () => {
  it("leaves no rejection unhandled when something subscribes", async () => {
    await using stack = new AsyncDisposableStack();
    const subject = testDatabaseName("subject");
    const { bus } = openBus(stack);
    await isUp(bus);
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    stack.defer(() => void process.off("unhandledRejection", note));
    const closing = bus[Symbol.asyncDispose]();
    const during = bus.onBroadcast(subject, () => {});
    await closing;
    const after = bus.onBroadcast(subject, () => {});
    await new Promise(setImmediate);
    for (const each of [during, after]) each[Symbol.dispose]();
    expect(unhandled).toEqual([]);
  });
});

describe("a connection that nats.js has closed for good", () => {
  it("makes a subscription fail, which is logged and does not end the process", async () => {
    await using stack = new AsyncDisposableStack();
    const subject = testDatabaseName("subject");
    const closed = await connect({ servers: inject("natsUrl").replace("nats://", "") });
    await closed.close();
    const opened = vi.spyOn(BrokerConnection.prototype, "opened", "get").mockResolvedValue(closed);
    stack.defer(() => opened.mockRestore());
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    stack.defer(() => void process.off("unhandledRejection", note));
    const { bus, said } = openBus(stack);
    const subscription = bus.onBroadcast(subject, () => {});
    await new Promise(setImmediate);
    subscription[Symbol.dispose]();
    expect(unhandled).toEqual([]);
    expect(said("CONNECTION_CLOSED")).toEqual([expect.stringContaining(subject)]);
  });
});

describe.concurrent("a connection that is open and receives nothing", () => {
  it("makes `ping` fail, and is replaced by one that receives broadcasts", async () => {
    await using stack = new AsyncDisposableStack();
    const subject = testDatabaseName("subject");
    const proxy = stack.use(await openMutableProxy(Number(new URL(inject("natsUrl")).port)));
    const { bus, said } = openBus(stack, `nats://127.0.0.1:${proxy.port}`);
    const received: string[] = [];
    bus.onBroadcast(subject, (data) => void received.push(text(data)));
    await isUp(bus);
    proxy.muteOpenConnections();
    await expect(bus.ping()).rejects.toThrow("receives nothing");
    await isUp(bus);
    bus.broadcast(subject, bytes("a"));
    await vi.waitFor(() => expect(received).toEqual(["a"]), patient);
    expect(said("does not answer, the connection is made anew")).toHaveLength(1);
  });

  it("is replaced, too, when the broker reads nothing of what is sent", async () => {
    await using stack = new AsyncDisposableStack();
    const subject = testDatabaseName("subject");
    const proxy = stack.use(await openMutableProxy(Number(new URL(inject("natsUrl")).port)));
    const { bus } = openBus(stack, `nats://127.0.0.1:${proxy.port}`);
    await isUp(bus);
    proxy.stallOpenConnections();
    // More than the buffers of the sockets hold.
    for (let piece = 0; piece < 64; piece++) bus.broadcast(subject, new Uint8Array(524_288));
    await vi.waitFor(() => expect(bus.connectionNumber()).toBe(2), patient);
    await bus.ping();
  });

  it("does not prevent the bus from closing", async () => {
    await using stack = new AsyncDisposableStack();
    const proxy = stack.use(await openMutableProxy(Number(new URL(inject("natsUrl")).port)));
    const { bus } = openBus(stack, `nats://127.0.0.1:${proxy.port}`);
    await isUp(bus);
    proxy.muteOpenConnections();
    const startedMs = performance.now();
    await bus[Symbol.asyncDispose]();
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});

describe.concurrent("a broker that hangs while connections to it are made", () => {
  it.for([
    ["says nothing", "nothing"],
    ["greets and answers nothing", "server"],
  ] as const)("and %s has one open connection after it resumes, and is logged as lost once", async ([, forwarded]) => {
    await using stack = new AsyncDisposableStack();
    const proxy = stack.use(await openMutableProxy(Number(new URL(inject("natsUrl")).port)));
    const { bus, said } = openBus(stack, `nats://127.0.0.1:${proxy.port}`);
    await isUp(bus);
    proxy.hang(forwarded);
    const { acceptedCount } = proxy;
    await vi.waitFor(() => expect(proxy.acceptedCount).toBe(acceptedCount + 2), patient);
    proxy.resume();
    await isUp(bus);
    await vi.waitFor(() => expect(proxy.openCount).toBe(1), patient);
    await bus.ping();
    expect(bus.connectionNumber()).toBe(2);
    expect(said("broker lost")).toHaveLength(1);
  });
});

describe.concurrent("the broker at the URL", () => {
  it("has one log line for several failed attempts, with its address and without credentials", async () => {
    await using stack = new AsyncDisposableStack();
    let attempts = 0;
    const refusing = stack.use(createServer((socket) => void (attempts++, socket.destroy())));
    await once(refusing.listen(0, "127.0.0.1"), "listening");
    const address = `127.0.0.1:${portOf(refusing.address())}`;
    const { bus, lines } = openBus(stack, `nats://ida:hunter2@${address}`);
    await vi.waitFor(() => expect(attempts).toBeGreaterThan(3), patient);
    await expect(bus.ping()).rejects.toThrow("cannot be reached");
    expect(lines).toEqual([expect.stringContaining("broker cannot be reached")]);
    expect(lines[0]).toContain(address);
    expect(lines[0]).not.toMatch(/hunter2|ida/);
  });

  it("is refused at once when its URL is of http, without quoting the password", async () => {
    await using stack = new AsyncDisposableStack();
    const open = () => openBus(stack, "http://ida:hunter2@broker");
    expect(open).toThrow(ConfigError);
    expect(open).toThrow(/^NATS_URL must be(?!.*hunter2)/);
  });

  it("accepts the credentials of the URL", async () => {
    await using stack = new AsyncDisposableStack();
    const dir = await mkdtemp(join(tmpdir(), "vidimus-bus-"));
    stack.defer(() => rm(dir, { recursive: true, force: true }));
    const port = await pickFreePort();
    const args = ["--addr", "127.0.0.1", "--port", String(port), "--user", "ida", "--pass", "hunter/2"];
    const command = await findBinary("nats-server");
    const server = await startChild({ command, args, logFile: join(dir, "nats.log") });
    stack.defer(async () => void (await server.stop(5_000)));
    await waitForListener(port, AbortSignal.timeout(10_000));
    await expect(connect({ servers: `127.0.0.1:${port}` })).rejects.toThrow(/authorization/i);
    await isUp(openBus(stack, `nats://ida:hunter%2F2@127.0.0.1:${port}`).bus);
  });
});

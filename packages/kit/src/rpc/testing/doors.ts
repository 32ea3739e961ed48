import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { Client, HandlerContext, Interceptor, ServiceImpl, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport as createNodeTransport } from "@connectrpc/connect-node";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import pino from "pino";
import { expect, onTestFinished, type TestContext } from "vitest";
import { createMetrics, type Metrics } from "../../telemetry/metrics.ts";
import { Readiness } from "../../readiness.ts";
import { createGrpcTransport } from "../client/grpc-transport.ts";
import { startMeshServer } from "../doors/mesh/mesh-server.ts";
import type { RpcServerOptions } from "../doors/shared/rpc-server.ts";
import { startTeamsServer } from "../doors/teams/teams-server.ts";
import { partialRoute } from "../doors/shared/route.ts";

export const mib = 1024 * 1024;
export const limit = 16 * mib;

const tests = new AsyncLocalStorage<TestContext>();

/**
 * For `aroundEach` of a file with concurrent tests. Without it `cleanUp` would run each cleanup
 * after the test that was started last, not after the one that asked for the cleanup.
 */
export const knowTest = (runTest: () => Promise<void>, context: TestContext) => tests.run(context, runTest);

/**
 * Runs `cleanup` after the current test, also when the test fails; the one given last runs first.
 */
export function cleanUp(cleanup: () => unknown): void {
  const known = tests.getStore();
  (known?.onTestFinished ?? onTestFinished)(async ({ task }) => {
    await cleanup();
    if (task.concurrent && !known) throw new Error("a file with concurrent tests must call aroundEach(knowTest)");
  });
}

/** Handlers of the service that the tests call: unary and streaming, with bytes both ways. */
export type Phrases = Partial<ServiceImpl<typeof PhraseService>>;

export interface Door {
  readonly name: "mesh" | "teams";
  readonly start: typeof startMeshServer;
}

export const mesh: Door = { name: "mesh", start: startMeshServer };
export const teams: Door = { name: "teams", start: startTeamsServer };
export const doors = [mesh, teams];

export type DoorOptions = Partial<RpcServerOptions>;

export async function serve(door: Door, implementation: Phrases, options: DoorOptions = {}) {
  const readiness = new Readiness();
  const metrics: Metrics = createMetrics("test");
  const log = pino({ level: "silent" });
  const common = { host: "127.0.0.1", port: 0, readiness, metrics, log, drainMs: 200 };
  const server = await door.start({ ...common, routes: [partialRoute(PhraseService, implementation)], ...options });
  let stopped: PromiseLike<void> | undefined;
  const stop = async () => (stopped ??= server[Symbol.asyncDispose]());
  cleanUp(stop);
  return { port: server.port, readiness, metrics, stop };
}

export interface Settings {
  interceptors?: Interceptor[];
  defaultTimeoutMs?: number;
}
type Closable = Transport & { close(): void };

export function overGrpcJs(port: number, settings: Settings = {}): Closable {
  return createGrpcTransport({ target: `127.0.0.1:${port}`, messageBytesMax: limit, ...settings });
}

function overConnectNode(protocol: "gRPC" | "Connect") {
  return (port: number, settings: Settings = {}): Closable => {
    const baseUrl = `http://127.0.0.1:${port}`;
    const sessionManager = new Http2SessionManager(baseUrl);
    const limits = { readMaxBytes: limit, writeMaxBytes: limit, defaultTimeoutMs: 10_000 };
    const options = { baseUrl, sessionManager, ...limits, ...settings };
    const transport =
      protocol === "gRPC"
        ? createNodeTransport(options)
        : createConnectTransport({ ...options, httpVersion: "2", useBinaryFormat: true });
    return Object.assign(transport, { close: () => sessionManager.abort() });
  };
}

export function opened<T extends Closable>(transport: T): T {
  cleanUp(() => transport.close());
  return transport;
}

const ours = { client: "our client", protocol: "gRPC", ours: true, open: overGrpcJs };
const nodeGrpc = { client: "connect-node gRPC", protocol: "gRPC", ours: false, open: overConnectNode("gRPC") };
const nodeConnect = {
  client: "connect-node Connect",
  protocol: "Connect",
  ours: false,
  open: overConnectNode("Connect"),
};

/** The mesh door speaks gRPC only. */
export const pairs = [
  { ...ours, door: mesh },
  { ...nodeGrpc, door: mesh },
  { ...ours, door: teams },
  { ...nodeGrpc, door: teams },
  { ...nodeConnect, door: teams },
].map(({ client, door, ours, protocol, open }) => ({
  name: `${client} at the ${door.name} door`,
  door,
  ours,
  protocol,
  connect: (port: number, settings?: Settings): Client<typeof PhraseService> =>
    createClient(PhraseService, opened(open(port, settings))),
}));

export const failure = async (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => expect.fail("the call succeeded"),
    (error: unknown) => (error instanceof ConnectError ? error : expect.fail(`not a ConnectError: ${String(error)}`)),
  );

export async function untilCancelled({ signal }: HandlerContext): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw new ConnectError("cancelled", Code.Canceled);
}

/** An answer, and a piece of a stream, that contain a number. */
export const phrase = (value: number) => ({ phraseJson: Buffer.from(String(value)) });
export const piece = (value: number) => ({ content: Buffer.from(String(value)) });
export const numberIn = (bytes: Uint8Array) => Number(new TextDecoder().decode(bytes));

export async function collect(pieces: AsyncIterable<{ content: Uint8Array }>, into: number[] = []): Promise<number[]> {
  for await (const { content } of pieces) into.push(numberIn(content));
  return into;
}

import { Code, ConnectError } from "@connectrpc/connect";
import type { ConnectRouter, HandlerContext, Interceptor, ServiceImpl, Transport } from "@connectrpc/connect";
import { connectNodeAdapter, createGrpcTransport as createNodeTransport } from "@connectrpc/connect-node";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { Health, type HealthCheckResponse_ServingStatus } from "@vidimus/contracts/grpc/health/v1/health";
import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import { afterEach, expect } from "vitest";
import { createGrpcTransport } from "../grpc-transport.ts";

export const mib = 1024 * 1024;
export const limit = 16 * mib;

export interface Settings {
  interceptors?: Interceptor[];
  defaultTimeoutMs?: number;
}
type Closable = Transport & { close(): void };

export function overGrpcJs(port: number, settings: Settings = {}): Closable {
  return createGrpcTransport({ target: `127.0.0.1:${port}`, messageBytesMax: limit, ...settings });
}

function overConnectNode(port: number, settings: Settings = {}): Closable {
  const baseUrl = `http://127.0.0.1:${port}`;
  const sessionManager = new Http2SessionManager(baseUrl);
  const limits = { readMaxBytes: limit, writeMaxBytes: limit, defaultTimeoutMs: 10_000 };
  const transport = createNodeTransport({ baseUrl, sessionManager, ...limits, ...settings });
  return Object.assign(transport, { close: () => sessionManager.abort() });
}

/** Undone in reverse after each test, whatever became of it. */
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

export function opened<T extends Closable>(transport: T): T {
  cleanups.push(() => transport.close());
  return transport;
}

interface TestServer {
  port: number;
  /** Sends GOAWAY on every connection; calls in flight go on. */
  drainSessions(): void;
  /** What a killed process looks like from outside. */
  kill(): Promise<void>;
}

export async function listen(server: Http2Server, port = 0): Promise<TestServer> {
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no TCP port");
  const kill = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const session of sessions) session.destroy();
    await closed;
  };
  cleanups.push(kill);
  const drainSessions = () => sessions.forEach((session) => session.close());
  return { port: address.port, drainSessions, kill };
}

const serve = (routes: (router: ConnectRouter) => void, port?: number) =>
  listen(createServer(connectNodeAdapter({ routes })), port);

export const serveHealth = (health: Partial<ServiceImpl<typeof Health>>, port?: number) =>
  serve((router) => router.service(Health, health), port);

/** Serves snapshots of the size that a request names in its only reference, and counts the bytes of its tenant id. */
export const serveSnapshots = () =>
  serve((router) =>
    router.service(SnapshotFeedService, {
      getSnapshots: ({ references: [reference] }) => ({
        snapshots: [
          {
            version: BigInt(reference?.tenantId.length ?? 0),
            snapshotJson: new Uint8Array(Number(reference?.sequence)).fill(7),
          },
        ],
      }),
    }),
  );

export const failure = async (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => expect.fail("the call succeeded"),
    (error: unknown) => (error instanceof ConnectError ? error : expect.fail(`not a ConnectError: ${String(error)}`)),
  );

/** Answers when the call is cancelled: the handler of a call that takes for ever. */
export async function untilCancelled({ signal }: HandlerContext): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw new ConnectError("cancelled", Code.Canceled);
}

/** The enum is open, so an answer can carry any number. */
export const answer = (status: number) => ({ status: status as HealthCheckResponse_ServingStatus });

/** A request for a snapshot of `answered` bytes that is itself `asked` bytes and a few long. */
export const snapshotRequest = (asked: number, answered: number) => ({
  references: [{ tenantId: "t".repeat(asked), sequence: BigInt(answered) }],
});

export const transports = [
  { name: "grpc-js", ours: true, open: overGrpcJs },
  { name: "connect-node", ours: false, open: overConnectNode },
];

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { connectNodeAdapter, createGrpcTransport as createNodeTransport } from "@connectrpc/connect-node";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";
import { HealthCheckRequestSchema, HealthCheckResponseSchema } from "@vidimus/contracts/grpc/health/v1/health";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { createGrpcTransport } from "@vidimus/kit/rpc/grpc-transport";
import { once } from "node:events";
import { createServer } from "node:http2";
import { performance } from "node:perf_hooks";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

/**
 * What one unary call costs, by client: `node bench/rpc-call.ts`. All clients speak to one connect-node server on a
 * thread of its own, in turns, so that a machine that slows down slows all of them. Bounded: 3 s a client.
 */
const callers = 64;
const rounds = 3;
const roundMs = 1_000;

interface Contender {
  name: string;
  call(): Promise<unknown>;
  close(): void;
}

interface Tally {
  calls: number;
  elapsedMs: number;
  /** How long the thread of the client was busy. */
  busyMs: number;
}

function connectNode(port: number): Contender {
  const baseUrl = `http://127.0.0.1:${port}`;
  const sessionManager = new Http2SessionManager(baseUrl);
  const client = createClient(Health, createNodeTransport({ baseUrl, sessionManager, defaultTimeoutMs: 10_000 }));
  return { name: "connect-node gRPC", call: () => client.check({}), close: () => sessionManager.abort() };
}

function connectOverGrpcJs(port: number): Contender {
  const transport = createGrpcTransport({ target: `127.0.0.1:${port}` });
  const client = createClient(Health, transport);
  return { name: "Connect over grpc-js", call: () => client.check({}), close: () => transport.close() };
}

const serialize = () => Buffer.from(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema)));
const parse = (bytes: Buffer) => fromBinary(HealthCheckResponseSchema, bytes);

function rawGrpcJs(port: number): Contender {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const call = () =>
    new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + 10_000 };
      client.makeUnaryRequest("/grpc.health.v1.Health/Check", serialize, parse, {}, options, (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
  return { name: "grpc-js alone", call, close: () => client.close() };
}

async function run(contender: Contender, durationMs: number): Promise<Tally> {
  const before = performance.eventLoopUtilization();
  const start = performance.now();
  let calls = 0;
  const caller = async () => {
    for (; performance.now() - start < durationMs; calls += 1) await contender.call();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const busyMs = performance.eventLoopUtilization(before).active;
  return { calls, elapsedMs: performance.now() - start, busyMs };
}

async function startServer(): Promise<{ port: number; worker: Worker }> {
  const worker = new Worker(new URL(import.meta.url));
  const [port]: unknown[] = await once(worker, "message");
  if (typeof port !== "number") throw new TypeError("the server did not say its port");
  return { port, worker };
}

async function serve(): Promise<void> {
  const routes = connectNodeAdapter({ routes: (router) => router.service(Health, { check: () => ({ status: 1 }) }) });
  const server = createServer(routes).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
  parentPort?.postMessage(typeof address === "object" ? address?.port : undefined);
}

async function main(): Promise<void> {
  const { port, worker } = await startServer();
  const contenders = [connectNode(port), connectOverGrpcJs(port), rawGrpcJs(port)];
  const totals = contenders.map(() => ({ calls: 0, elapsedMs: 0, busyMs: 0 }));
  for (const contender of contenders) await run(contender, roundMs);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      const { calls, elapsedMs, busyMs } = await run(contender, roundMs);
      const total = totals[index]!;
      total.calls += calls;
      total.elapsedMs += elapsedMs;
      total.busyMs += busyMs;
    }
  }
  const perSecond = totals.map(({ calls, elapsedMs }) => (calls / elapsedMs) * 1_000);
  const rows = contenders.map(({ name }, index) => ({
    client: name,
    "calls/s": Math.round(perSecond[index]!),
    "times connect-node": Number((perSecond[index]! / perSecond[0]!).toFixed(2)),
    "client µs/call": Math.round((totals[index]!.busyMs / totals[index]!.calls) * 1_000),
  }));
  console.log(`unary calls, ${callers} callers, one hop, ${(rounds * roundMs) / 1_000} s a client`);
  console.table(rows);
  for (const contender of contenders) contender.close();
  await worker.terminate();
}

await (isMainThread ? main() : serve());

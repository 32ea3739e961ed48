/**
 * One end of `rpc-call`, in a process of its own so that its CPU can be measured.
 *
 * Arguments: SIDE `server`, or SIDE `client` PORT CALLERS MS. SIDE is `ours` (mesh door, typed
 * client, call context in the metadata) or `bare` (grpc-js alone). A server sends the parent
 * process its port, then its CPU time after each message of the parent. A client sends `warm` after
 * its warm-up, then its figures.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponse_ServingStatus as Status,
  HealthCheckResponseSchema,
} from "@vidimus/contracts/grpc/health/v1/health";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { createMetrics } from "@vidimus/kit/telemetry/metrics";
import { Readiness } from "@vidimus/kit/readiness";
import { contextHeaders, newTraceparent } from "@vidimus/kit/rpc/context/call-context";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { startMeshServer } from "@vidimus/kit/rpc/doors/mesh/mesh-server";
import { uuidv7 } from "@vidimus/kit/ids";
import { promisify } from "node:util";

const path = "/grpc.health.v1.Health/Check";
const host = "127.0.0.1";
const [side, end, port, callers, durationMs] = process.argv.slice(2);

const serialize =
  <T>(encode: (value: T) => Uint8Array) =>
  (value: T) =>
    Buffer.from(encode(value));

async function serveOurs(): Promise<number> {
  const [log, metrics, readiness] = [createLogger("bench", "info"), createMetrics("bench"), new Readiness()];
  return (await startMeshServer({ routes: [], host, port: 0, log, metrics, readiness })).port;
}

async function serveBare(): Promise<number> {
  const server = new grpc.Server();
  const answer: grpc.handleUnaryCall<unknown, { status: Status }> = (_call, respond) =>
    respond(null, { status: Status.SERVING });
  const encode = serialize((value: { status: Status }) =>
    toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, value)),
  );
  server.register(path, answer, encode, (bytes) => fromBinary(HealthCheckRequestSchema, bytes), "unary");
  return promisify(server.bindAsync.bind(server))(`${host}:0`, grpc.ServerCredentials.createInsecure());
}

function callOurs(target: string): () => Promise<unknown> {
  const client = openRpcClient(Health, { target });
  const context = { requestId: uuidv7(), traceparent: newTraceparent(), actor: "feed", role: "integrator" };
  return () => client.check({}, { headers: contextHeaders(context) });
}

function callBare(target: string): () => Promise<unknown> {
  const client = new grpc.Client(target, grpc.credentials.createInsecure());
  const encode = serialize(() => toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema)));
  const decode = (bytes: Buffer) => fromBinary(HealthCheckResponseSchema, bytes);
  return () =>
    new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + 10_000 };
      client.makeUnaryRequest(path, encode, decode, {}, options, (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function runClient(): Promise<void> {
  const target = `${host}:${port}`;
  const call = side === "ours" ? callOurs(target) : callBare(target);
  const load = async (ms: number) => {
    const until = performance.now() + ms;
    let calls = 0;
    const caller = async () => {
      for (; performance.now() < until; calls += 1) await call();
    };
    await Promise.all(Array.from({ length: Number(callers) }, caller));
    return calls;
  };
  // A warm-up, because code is slow at first.
  await load(Number(durationMs) / 2);
  process.send?.("warm");
  const [started, before] = [performance.now(), cpuMicros()];
  const calls = await load(Number(durationMs));
  process.send?.({ calls, elapsedMs: performance.now() - started, cpuMicros: cpuMicros() - before });
}

if (end === "server") {
  process.on("message", () => process.send?.({ cpuMicros: cpuMicros() }));
  process.on("disconnect", () => process.exit());
  process.send?.({ port: await (side === "ours" ? serveOurs() : serveBare()) });
} else {
  await runClient();
  process.exit();
}

import { createClient } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@vidimus/contracts/grpc/health/v1/health";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import pino from "pino";
import { expect, it, vi } from "vitest";
import { patient } from "../testing/patient.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { portOf } from "../port.ts";
import { Readiness } from "../readiness.ts";
import { openDoors } from "./open-doors.ts";
import { meshRoute, partialRoute, type RpcRoute, teamsRoute } from "../rpc/doors/shared/route.ts";
import { cleanUp, numberIn, opened, overGrpcJs, phrase, type Phrases } from "../rpc/testing/doors.ts";

/** Prepares both doors with one service behind them; `doors` opens them. */
async function open(implementation: Phrases, ports = { grpcPort: 0, meshPort: 0 }) {
  const stack = new AsyncDisposableStack();
  cleanUp(() => stack.disposeAsync());
  const readiness = new Readiness();
  const route: RpcRoute<typeof PhraseService, never> = { ...partialRoute(PhraseService, implementation), methods: [] };
  const routes = { teams: [teamsRoute(route, {})], mesh: [meshRoute(route, {})] };
  const options = { readiness, log: pino({ level: "silent" }), metrics: createMetrics("test"), drainMs: 5_000 };
  const doors = () => openDoors(stack, { host: "127.0.0.1", ...ports }, routes, options);
  return { stack, readiness, doors };
}

/** Whether a TCP connection is accepted. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const accepted = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return accepted;
}

it("a stop closes both doors together, and the calls that run at both are still answered", async () => {
  const answers: (() => void)[] = [];
  const { stack, doors } = await open({
    upsertPhrase: () => new Promise((resolve) => answers.push(() => resolve(phrase(1)))),
  });
  const ports = Object.values(await doors());
  const calls = ports.map((port) => createClient(PhraseService, opened(overGrpcJs(port))).upsertPhrase({}));
  await vi.waitFor(() => expect(answers).toHaveLength(2), patient);
  let isStopped = false;
  const stopped = stack.disposeAsync().then(() => (isStopped = true));
  await vi.waitFor(async () => expect(await Promise.all(ports.map(accepts))).toEqual([false, false]), patient);
  expect(isStopped).toBe(false);
  for (const answer of answers) answer();
  expect((await Promise.all(calls)).map(({ phraseJson }) => numberIn(phraseJson))).toEqual([1, 1]);
  await stopped;
});

it("both doors show the one readiness of the process as their health", async () => {
  const { readiness, doors } = await open({});
  const healths = Object.values(await doors()).map((port) => createClient(Health, opened(overGrpcJs(port))));
  const statuses = () => Promise.all(healths.map(async (health) => (await health.check({})).status));
  expect(await statuses()).toEqual([Status.SERVING, Status.SERVING]);
  readiness.drain();
  expect(await statuses()).toEqual([Status.NOT_SERVING, Status.NOT_SERVING]);
});

it("when the mesh door's port is taken, the error names MESH_PORT, and a stop closes the teams door", async () => {
  const taken = createServer();
  cleanUp(() => taken.close());
  await once(taken.listen(0, "127.0.0.1"), "listening");
  const free = createServer();
  await once(free.listen(0, "127.0.0.1"), "listening");
  const ports = { grpcPort: portOf(free.address()), meshPort: portOf(taken.address()) };
  await new Promise((resolve) => free.close(resolve));
  const { stack, doors } = await open({}, ports);
  const written = vi.spyOn(console, "error");
  cleanUp(() => written.mockRestore());
  await expect(doors()).rejects.toThrow(`MESH_PORT: port ${ports.meshPort} of 127.0.0.1 is taken`);
  await stack.disposeAsync();
  expect(await accepts(ports.grpcPort)).toBe(false);
  // grpc-js would write a warning of its own before the service's message.
  expect(written).not.toHaveBeenCalled();
});

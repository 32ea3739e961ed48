import { setTimeout as pause } from "node:timers/promises";
import type { EnvReader } from "./env.ts";
import { createLogger, type Logger } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { type OpsPage, startOpsServer } from "./ops-server.ts";
import { Readiness } from "./readiness.ts";

/** Settings every service has. */
export interface BaseConfig {
  /** Address to bind. */
  host: string;
  /** Port of the internal RPC server; 0 picks a free one. */
  grpcPort: number;
  /** Port of probes and metrics; 0 picks a free one. */
  opsPort: number;
  mongoUrl: string;
  /** The one database the service owns. */
  database: string;
  logLevel: string;
  /** Between "not ready" and the end of intake, so that whoever routes to this process hears of it. */
  drainDelayMs: number;
}

/** Reads the settings every service has. Variables: HOST, GRPC_PORT, OPS_PORT, MONGODB_URL, MONGODB_DATABASE, LOG_LEVEL, DRAIN_DELAY_MS. */
export function readBaseConfig(
  env: EnvReader,
  defaults: { grpcPort: number; opsPort: number; database: string },
): BaseConfig {
  return {
    host: env.string("HOST", { fallback: "127.0.0.1" }),
    grpcPort: env.int("GRPC_PORT", { min: 0, max: 65_535, fallback: defaults.grpcPort }),
    opsPort: env.int("OPS_PORT", { min: 0, max: 65_535, fallback: defaults.opsPort }),
    mongoUrl: env.string("MONGODB_URL"),
    database: env.string("MONGODB_DATABASE", {
      fallback: defaults.database,
      pattern: /^\w{1,38}$/,
      shape: "a database name",
    }),
    logLevel: env.oneOf("LOG_LEVEL", ["debug", "info", "warn", "error", "silent"], "info"),
    drainDelayMs: env.int("DRAIN_DELAY_MS", { min: 0, max: 60_000, fallback: 0 }),
  };
}

/** What a process has before it has anything of its own. */
export interface Process {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  /** Pages on the ops port beside probes and metrics, by path. */
  readonly pages: Map<string, OpsPage>;
}

/** What a service's own composition gives back. */
export interface Composition {
  /** Where its RPC server listens. */
  readonly grpcPort: number;
  /** Rejects while the service cannot do its work; asked on every `/readyz`. */
  check(): Promise<void>;
}

/** A started service: where it listens, and how it stops. */
export interface RunningService extends AsyncDisposable {
  readonly grpcPort: number;
  readonly opsPort: number;
}

/**
 * Starts a service. `compose` opens what it needs on the stack it is given: database first, then broker, workers and
 * last the servers. The stop goes the other way round, behind a drain: not ready → wait for whoever routes here to hear
 * of it → intake ends and calls finish → workers → broker → database → ops port.
 *
 * When `compose` fails, what it had opened is closed again.
 */
export async function startService<C extends Composition>(
  name: string,
  config: BaseConfig,
  compose: (stack: AsyncDisposableStack, process: Process) => Promise<C>,
): Promise<RunningService & Omit<C, "check">> {
  await using stack = new AsyncDisposableStack();
  const log = createLogger(name, config.logLevel);
  const metrics = createMetrics(name);
  const readiness = new Readiness();
  let check = (): Promise<void> => Promise.reject(new Error("starting"));
  const { host } = config;
  const pages = new Map<string, OpsPage>();
  const opsOptions = { host, port: config.opsPort, readiness, metrics, check: () => check(), pages };
  const ops = stack.use(await startOpsServer(opsOptions));
  const composition = await compose(stack, { log, metrics, readiness, pages });
  check = () => composition.check();
  stack.defer(async () => {
    log.info("draining");
    readiness.drain();
    await pause(config.drainDelayMs);
  });
  log.info({ grpcPort: composition.grpcPort, opsPort: ops.port }, "started");
  const opened = stack.move();
  return { ...composition, opsPort: ops.port, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

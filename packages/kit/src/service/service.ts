import type { ChannelCredentials } from "@grpc/grpc-js";
import { setTimeout as pause } from "node:timers/promises";
import { withinDeadline } from "../deadline.ts";
import type { EnvReader } from "../env.ts";
import type { Grants } from "../rpc/doors/teams/grants.ts";
import { openLiveGrants } from "../rpc/doors/teams/live-grants.ts";
import type { MigrateMode } from "../mongo/database-version.ts";
import { isLoopback, needsCertificate } from "../rpc/doors/shared/connections.ts";
import { createLogger, type Logger } from "../telemetry/log.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { openTracing } from "../telemetry/tracing/open-tracing.ts";
import { readTracingConfig, type TracingConfig } from "../telemetry/tracing/tracing-config.ts";
import type { Tracing } from "../telemetry/tracing/tracing.ts";
import { type LiveCertificate, openLiveCertificate } from "../tls/live-certificate.ts";
import { serviceCredentials } from "../tls/service-credentials.ts";
import { readTlsFiles, type TlsFiles } from "../tls/tls-files.ts";
import { type OpsPage, startOpsServer } from "./ops-server.ts";
import { Readiness } from "../readiness.ts";

/** Settings of every process with a database. */
export interface ProcessConfig {
  /** Address to bind; it must be loopback while there is no certificate. */
  host: string;
  /** Files of the process's certificate; without them its doors are plaintext. */
  tls?: TlsFiles | undefined;
  /** Port of probes and metrics; 0 chooses a free one. */
  opsPort: number;
  mongoUrl: string;
  database: string;
  /** What the start may do to the database. */
  migrate: MigrateMode;
  logLevel: string;
  /** Time between "not ready" and the end of intake, in which load balancers notice the stop. */
  drainDelayMs: number;
}

/** Settings of every service. */
export interface BaseConfig extends ProcessConfig {
  /** Port of the mesh door, for the platform's other services; 0 chooses a free one. */
  meshPort: number;
}

/** Settings of a service that also serves internal teams. */
export interface TeamsConfig extends BaseConfig {
  /** Port of the teams door; 0 chooses a free one. */
  grpcPort: number;
  /** File that says who may call the teams door; set if and only if `tls` is. */
  grantsFile?: string | undefined;
  /** Undefined while tracing is off. */
  tracing?: TracingConfig | undefined;
}

type ProcessDefaults = Pick<ProcessConfig, "opsPort" | "database">;
type BaseDefaults = ProcessDefaults & Pick<BaseConfig, "meshPort">;
type TeamsDefaults = BaseDefaults & Pick<TeamsConfig, "grpcPort">;

/** Reads the settings of every service: those of `readProcessConfig`, and MESH_PORT. */
export function readBaseConfig(env: EnvReader, defaults: BaseDefaults): BaseConfig {
  return { ...readProcessConfig(env, defaults), meshPort: readPort(env, "MESH_PORT", defaults.meshPort) };
}

/**
 * Reads the settings of every process: HOST, TLS_CERT_FILE, TLS_KEY_FILE, TLS_CA_FILE,
 * IDENTITY_PATH, OPS_PORT, MONGODB_URL, MONGODB_DATABASE, MIGRATE, LOG_LEVEL and DRAIN_DELAY_MS.
 */
export function readProcessConfig(env: EnvReader, defaults: ProcessDefaults): ProcessConfig {
  const host = env.string("HOST", { fallback: "127.0.0.1" });
  const tls = readTlsFiles(env);
  if (!tls && !isLoopback(host)) env.fault(`HOST: ${needsCertificate(host)}`);
  return {
    host,
    tls,
    opsPort: readPort(env, "OPS_PORT", defaults.opsPort),
    ...readDatabase(env, defaults.database),
    migrate: env.oneOf("MIGRATE", ["on", "prepare", "off"], "on"),
    logLevel: env.oneOf("LOG_LEVEL", ["debug", "info", "warn", "error", "silent"], "info"),
    drainDelayMs: env.int("DRAIN_DELAY_MS", { min: 0, max: 60_000, fallback: 0 }),
  };
}

/** Reads where a service's database is: MONGODB_URL and MONGODB_DATABASE. */
export function readDatabase(env: EnvReader, fallback: string): Pick<BaseConfig, "mongoUrl" | "database"> {
  const name = { fallback, pattern: /^\w{1,38}$/, shape: "a database name" };
  return { mongoUrl: env.string("MONGODB_URL"), database: env.string("MONGODB_DATABASE", name) };
}

/**
 * Reads the settings of a service with a teams door: those of every service, GRPC_PORT, GRANTS_FILE
 * and OpenTelemetry's. Signing reads its own, because its admin door may be closed and it exports
 * no traces: the spans of its callers show its calls.
 */
export function readTeamsConfig(env: EnvReader, defaults: TeamsDefaults): TeamsConfig {
  const base = readBaseConfig(env, defaults);
  const grantsFile = env.optional("GRANTS_FILE");
  if (base.tls && !grantsFile) env.fault("GRANTS_FILE is required together with TLS_CERT_FILE");
  // A plaintext door does not enforce grants, so a grants file there would only look like
  // protection.
  if (!base.tls && grantsFile) env.fault("GRANTS_FILE needs TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE");
  const tracing = readTracingConfig(env);
  return { ...base, grpcPort: readPort(env, "GRPC_PORT", defaults.grpcPort), grantsFile, tracing };
}

function readPort(env: EnvReader, name: string, fallback: number): number {
  return env.int(name, { min: 0, max: 65_535, fallback });
}

/** What `startService` passes to `compose`. */
export interface ServiceContext {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Undefined while tracing is off. */
  readonly tracing: Tracing | undefined;
  readonly readiness: Readiness;
  /** Certificate of this service; undefined while the doors are plaintext. */
  readonly certificate: LiveCertificate | undefined;
  /** Returns the current grants; undefined on plaintext doors and without a grants file. */
  readonly grants: (() => Grants) | undefined;
  /** Returns the credentials for calls to a service; undefined while the doors are plaintext. */
  readonly credentialsFor: (service: string) => ChannelCredentials | undefined;
  /** Further pages of the ops port, from path to page. */
  readonly pages: Map<string, OpsPage>;
}

/** What the `compose` of `startService` returns. */
interface Composition {
  /** Port of the teams door, if the service has one. */
  readonly grpcPort?: number;
  /** Port of the mesh door, if the process has one. */
  readonly meshPort?: number;
  /** Rejects while the service cannot work and should get no traffic. Called on every `/readyz`. */
  check(): Promise<void>;
  /**
   * Rejects while the service works but lacks something: `/readyz` stays 200 and gives the reason.
   */
  checkDegraded?(): Promise<void>;
}

/** Disposing it stops the process in the order that `startService` describes. */
export interface RunningProcess extends AsyncDisposable {
  readonly opsPort: number;
}

export interface RunningService extends RunningProcess {
  readonly meshPort: number;
}

export interface RunningTeamsService extends RunningService {
  readonly grpcPort: number;
}

const closeFailedMs = 1_000;

/**
 * Starts a service. `compose` opens what it needs on the given stack, the database first and the
 * servers last. A stop reverses this order after a drain: not ready → wait `drainDelayMs` → intake
 * ends and calls finish → workers and broker → database → traces → ops port.
 *
 * When `compose` rejects, the stack is disposed for at most a second before the error is thrown, so
 * that a hanging dependency does not hide the cause.
 */
export async function startService<C extends Composition>(
  name: string,
  config: ProcessConfig & Pick<TeamsConfig, "grantsFile" | "tracing">,
  compose: (stack: AsyncDisposableStack, process: ServiceContext) => Promise<C>,
): Promise<RunningProcess & Omit<C, "check" | "checkDegraded">> {
  const stack = new AsyncDisposableStack();
  const log = createLogger(name, config.logLevel);
  const metrics = createMetrics(name);
  const readiness = new Readiness();
  let composed: Composition | undefined;
  const check = async () => {
    if (!composed) throw new Error("starting");
    await composed.check();
  };
  const checkDegraded = async () => composed?.checkDegraded?.();
  const { host } = config;
  const pages = new Map<string, OpsPage>();
  const opsOptions = { host, port: config.opsPort, readiness, metrics, check, checkDegraded, pages };
  const identity = openIdentity(stack, name, config, log, metrics);
  const ops = stack.use(await startOpsServer(opsOptions));
  const tracing = await openTracing(stack, { service: name, config: config.tracing, log, registry: metrics.registry });
  const composition = await compose(stack, { log, metrics, tracing, readiness, pages, ...identity }).catch(
    async (error: unknown) => {
      await withinDeadline(stack.disposeAsync(), closeFailedMs).catch(() => false);
      throw error;
    },
  );
  composed = composition;
  stack.defer(async () => {
    log.info("draining");
    readiness.drain();
    await pause(config.drainDelayMs);
  });
  const { grpcPort, meshPort } = composition;
  log.info({ grpcPort, meshPort, opsPort: ops.port }, "started");
  return { ...composition, opsPort: ops.port, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Certificate and grants are reloaded until the stack is disposed. */
function openIdentity(
  stack: AsyncDisposableStack,
  service: string,
  { tls, grantsFile }: Pick<TeamsConfig, "tls" | "grantsFile">,
  log: Logger,
  { registry }: Metrics,
): Pick<ServiceContext, "certificate" | "grants" | "credentialsFor"> {
  if (!tls) return { certificate: undefined, grants: undefined, credentialsFor: () => undefined };
  const certificate = stack.use(openLiveCertificate({ files: tls, service, log, registry }));
  const grants = grantsFile ? stack.use(openLiveGrants({ file: grantsFile, log, registry })) : undefined;
  return {
    certificate,
    grants: grants && (() => grants.value),
    credentialsFor: (other) => serviceCredentials(certificate, other),
  };
}

import { randomBytes } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openMongodb, openNats } from "../backing/backing.ts";
import { ensureDatabaseUsers } from "../backing/database-users.ts";
import type { BackingServer } from "../backing/server.ts";
import { DevstackError } from "../errors.ts";
import { assertPortFree } from "../port-guard.ts";
import { type ConsolePorts, consoleEnv, consoleOrigin, consolePortSettings, readConsolePorts } from "./console-plan.ts";
import { type DevIdentities, makeIdentities } from "./dev-identities.ts";
import { type DevJson, type DevTenant, devAddresses, readDevJson } from "./dev-json.ts";
import { endOrphans } from "./leftovers.ts";
import { planReplicas, type Replica, type ReplicaCounts } from "./replicas.ts";
import { acquireLock } from "./stack-lock.ts";
import { seedTenants } from "./seed.ts";
import {
  databaseUsers,
  portSettings,
  readPort,
  readPorts,
  serviceEnv,
  type StackPorts,
  type SharedSettings,
} from "./service-plan.ts";
import { serviceNames, type ProgramName } from "./program-names.ts";
import { startServiceProcess, untilServiceReady } from "./service-process.ts";
import { logFile, StackState } from "./stack-state.ts";
import { supervise, type Supervised } from "./supervisor.ts";

interface DevStackOptions {
  /** Folder of data, logs, keys and dev.json. */
  readonly stateDir: string;
  /**
   * Read at each start of a service or the console, and passed to it; mongod and nats-server get
   * the environment of this process. The stack itself reads ports, CONSOLE_ORIGIN,
   * CONSOLE_API_ORIGIN, MONGODB_URL and NATS_URL from it.
   */
  readonly env: NodeJS.ProcessEnv;
  /** Deletes data, keys, certificates, grants and logs first. Downloaded binaries stay. */
  readonly fresh?: boolean;
  /**
   * Whether to make certificates and users. The doors, and a broker and a database that the stack
   * starts, then refuse callers without them.
   */
  readonly mtls?: boolean;
  /** Starts the console, too. */
  readonly console?: boolean;
  readonly replicas?: ReplicaCounts;
  /** Receives a line for people about each wait, restart and fault. Downloads go to stderr. */
  readonly report: (line: string) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/** A running dev stack. Disposing it stops its processes in the reverse order of their start. */
export interface DevStack extends AsyncDisposable {
  readonly dev: DevJson;
}

/**
 * Starts MongoDB and NATS (unless the environment names other ones), the five services and, if
 * asked, the console. Creates the tenants. Restarts each process that ends, and writes its new pid
 * to dev.json. When the start fails, all processes are stopped again.
 *
 * @throws DevstackError when a stack runs in the folder, a port is taken or malformed, or a process
 *   cannot start; the signal's reason when it aborts
 */
export async function openDevStack(options: DevStackOptions): Promise<DevStack> {
  const { stateDir, env, report } = options;
  const ports = readPorts(env);
  const consolePorts = options.console ? readConsolePorts(env) : undefined;
  await mkdir(stateDir, { recursive: true });
  await using stack = new AsyncDisposableStack();
  // The lock comes first: without it the next steps could stop or delete what another start made.
  const lock = stack.use(await acquireLock(stateDir, report, options.signal));
  await endOrphans(stateDir, report);
  await Promise.race([assertPortsFree(ports, consolePorts, report), aborted(options.signal)]);
  const known = (await readDevJson(stateDir))?.tenants ?? [];
  if (options.fresh) await removeState(stateDir);
  const replicas = await planReplicas(options.replicas ?? {});
  const addresses = withConsole(devAddresses(ports, replicas), env, consolePorts);
  const state = new StackState(stateDir, addresses, report);
  const opening = openProcesses(stack, state, options, { ports, replicas, consolePorts }, known);
  const dev = await Promise.race([opening, state.refused, aborted(options.signal)]).catch(async (error: unknown) => {
    await lock.markStopping();
    throw error;
  });
  stack.defer(() => lock.markStopping());
  const running = stack.move();
  return { dev, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function openProcesses(
  stack: AsyncDisposableStack,
  state: StackState,
  options: DevStackOptions,
  plan: StackPlan,
  known: readonly DevTenant[],
): Promise<DevJson> {
  const { stateDir, env } = options;
  const shared = await openBackingServers(stack, state, options, plan);
  const processes = processesOf(plan, shared, env);
  for (const { name, program, env: settings } of processes) {
    const start = () => startServiceProcess(program, settings(), logFile(stateDir, name));
    await own(stack, await supervise(name, start, state));
  }
  await Promise.all(
    processes.map(({ name, ops }) => untilServiceReady(name, `http://127.0.0.1:${ops}`, logFile(stateDir, name))),
  );
  const { gateway, grpc } = state.addresses;
  const tls = shared.identities?.operator;
  const reached = { gateway, grpc, ...(tls && { tls }) };
  const tenants = await seedTenants(reached, options.fresh ? [] : known);
  return state.publish(tenants, { ...reached, mongodb: shared.mongoUrl, nats: shared.natsUrl });
}

interface StackPlan {
  readonly ports: StackPorts;
  readonly replicas: readonly Replica[];
  readonly consolePorts: ConsolePorts | undefined;
}

interface PlannedProcess {
  readonly name: string;
  readonly program: ProgramName;
  readonly ops: number;
  /** Returns the whole environment; called at each start, because `env` may change. */
  readonly env: () => NodeJS.ProcessEnv;
}

/** All processes of the services and the console, in the order of their start. */
function processesOf({ ports, replicas, consolePorts }: StackPlan, shared: SharedSettings, env: NodeJS.ProcessEnv) {
  const all = [...serviceNames.map((service) => ({ name: service, service, ports: ports[service] })), ...replicas];
  const planned = serviceNames
    .flatMap((name) => all.filter(({ service }) => service === name))
    .map(({ name, service, ports: own }): PlannedProcess => {
      return { name, program: service, ops: own.ops, env: () => serviceEnv(service, shared, env, own) };
    });
  if (!consolePorts) return planned;
  const settings = () => consoleEnv(shared, env, consolePorts);
  return [...planned, { name: "console", program: "console", ops: consolePorts.ops, env: settings } as const];
}

function withConsole(
  addresses: ReturnType<typeof devAddresses>,
  env: NodeJS.ProcessEnv,
  ports: ConsolePorts | undefined,
): ReturnType<typeof devAddresses> {
  if (!ports) return addresses;
  const ops = { ...addresses.ops, console: `http://127.0.0.1:${ports.ops}` };
  return { ...addresses, ops, console: consoleOrigin(env, ports) };
}

/** Adds a process to the stack. When the stack was disposed meanwhile, stops it and throws. */
async function own(stack: AsyncDisposableStack, started: AsyncDisposable): Promise<void> {
  if (stack.disposed) await started[Symbol.asyncDispose]();
  stack.use(started);
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Throws a DevstackError that lists every port that cannot be used, with its variable. */
async function assertPortsFree(
  ports: StackPorts,
  consolePorts: ConsolePorts | undefined,
  report: (line: string) => void,
): Promise<void> {
  let isWaiting = false;
  const onWait = () => {
    if (!isWaiting) report("waiting for ports that are taken, for 5 s");
    isWaiting = true;
  };
  const wanted = [
    ...portSettings.map(({ service, kind, variable }) => ({ port: ports[service][kind] ?? 0, variable })),
    ...(consolePorts ? consolePortSettings.map(({ kind, variable }) => ({ port: consolePorts[kind], variable })) : []),
  ];
  const checks = wanted.map(({ port, variable }) => assertPortFree(port, variable, onWait));
  const faults = (await Promise.allSettled(checks)).filter((check) => check.status === "rejected");
  if (faults.length === 0) return;
  throw new DevstackError(
    faults.map(({ reason }) => (reason instanceof Error ? reason.message : String(reason))).join("\n"),
  );
}

async function openBackingServers(
  stack: AsyncDisposableStack,
  state: StackState,
  { stateDir, env, report, mtls = false }: DevStackOptions,
  plan: StackPlan,
): Promise<SharedSettings & { identities: DevIdentities | undefined }> {
  const identities = mtls ? await makeIdentities(join(stateDir, "tls")) : undefined;
  const serverOptions = (name: string, port = 0) => ({
    dataDir: join(stateDir, "data", name),
    logFile: logFile(stateDir, name),
    port,
  });
  const mongoUrl = await superviseBacking(stack, state, "mongod", readPort(env, "MONGODB_PORT", 0), (port) =>
    openMongodb({ ...serverOptions("mongod", port), access: identities?.database }, env),
  );
  const natsUrl = await superviseBacking(stack, state, "nats", readPort(env, "NATS_PORT", 0), (port) =>
    openNats({ ...serverOptions("nats", port), configFile: identities?.brokerConfig }, env),
  );
  const databasePrefix = "vidimus";
  const users =
    identities && !env["MONGODB_URL"] ? databaseUsers(databasePrefix, identities.database.passwords) : undefined;
  if (users) await ensureDatabaseUsers(mongoUrl, Object.values(users));
  if (mtls) reportUnprotected(env, report);
  const backing = { mongoUrl, databaseUsers: users, natsUrl, isOwnBroker: !env["NATS_URL"] };
  const kekFiles = {
    signing: await ensureSecretKey(join(stateDir, "kek")),
    delivery: await ensureSecretKey(join(stateDir, "delivery-kek")),
  };
  const attestationKeyFile = await ensureSecretKey(join(stateDir, "attestation-key"));
  return { ...backing, kekFiles, attestationKeyFile, databasePrefix, identities, ...plan };
}

function reportUnprotected(env: NodeJS.ProcessEnv, report: (line: string) => void): void {
  for (const variable of ["MONGODB_URL", "NATS_URL"]) {
    if (env[variable]) report(`the server of ${variable} is used as it is: --mtls makes no users there`);
  }
}

/**
 * Starts a backing server, and restarts it on its first port whenever it ends, so that its clients
 * can reconnect. Returns its URL.
 */
async function superviseBacking(
  stack: AsyncDisposableStack,
  state: StackState,
  name: string,
  wantedPort: number,
  open: (port: number) => Promise<BackingServer>,
): Promise<string> {
  let port = wantedPort;
  let url = "";
  const start = async (): Promise<Supervised> => {
    const server = await open(port);
    url = server.url;
    // The port of an external server is not needed, and its URL may name several hosts.
    if (server.pid !== undefined) port = Number(new URL(url).port);
    return server;
  };
  await own(stack, await supervise(name, start, state));
  return url;
}

async function ensureSecretKey(path: string): Promise<string> {
  // `wx` never overwrites a key: what the old one has wrapped in the database would be lost.
  await writeFile(path, randomBytes(32), { mode: 0o600, flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  return path;
}

async function removeState(stateDir: string): Promise<void> {
  const gone = ["data", "logs", "kek", "delivery-kek", "attestation-key", "tls", "dev.json"].map((name) =>
    rm(join(stateDir, name), { recursive: true, force: true }),
  );
  await Promise.all(gone);
}

import { randomBytes } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openMongodb, openNats } from "../backing/backing.ts";
import type { BackingServer } from "../backing/server.ts";
import { DevstackError } from "../errors.ts";
import { assertPortFree } from "../port-guard.ts";
import { type DevJson, type DevTenant, devAddresses, readDevJson, writeDevJson } from "./dev-json.ts";
import { claimState, clearLeftovers } from "./leftovers.ts";
import { seedTenants } from "./seed.ts";
import {
  portSettings,
  readPort,
  readPorts,
  serviceEnv,
  serviceNames,
  type StackPorts,
  type Surroundings,
} from "./service-plan.ts";
import { startServiceProcess, untilServiceReady } from "./service-process.ts";
import { supervise, type Supervised, type SupervisorEvents } from "./supervisor.ts";

/** How a dev stack starts. */
export interface DevStackOptions {
  /** Holds data, logs, keys and dev.json. */
  readonly stateDir: string;
  /** Passed on to every process; also names ports, MONGODB_URL and NATS_URL. */
  readonly env: NodeJS.ProcessEnv;
  /** Throws data and keys away first. Downloaded binaries stay. */
  readonly fresh?: boolean;
  /** Told what happens, a line each. */
  readonly say: (line: string) => void;
}

/** A running dev stack; disposing it stops everything it started, callers before the called. */
export interface DevStack extends AsyncDisposable {
  readonly dev: DevJson;
}

/**
 * Starts MongoDB, NATS and the five services, seeds the tenants, and restarts whatever dies. Each change of a pid is in
 * dev.json at once. Throws DevstackError when something cannot start; what had started is stopped again.
 */
export async function openDevStack(options: DevStackOptions): Promise<DevStack> {
  const { stateDir, env, say } = options;
  const ports = readPorts(env);
  await clearLeftovers(stateDir);
  await assertPortsFree(ports);
  const known = (await readDevJson(stateDir))?.tenants ?? [];
  if (options.fresh) await removeState(stateDir);
  await mkdir(stateDir, { recursive: true });
  await claimState(stateDir);

  await using stack = new AsyncDisposableStack();
  const state = new StackState(stateDir, devAddresses(ports), say);
  const around = await openSurroundings(stack, state, options, ports);
  for (const name of serviceNames) {
    const start = () => startServiceProcess(name, serviceEnv(name, around, env), logFile(stateDir, name));
    stack.use(await supervise(name, start, state));
  }
  await Promise.all(
    serviceNames.map((name) => untilServiceReady(name, state.addresses.ops[name], logFile(stateDir, name))),
  );
  const { gateway, grpc } = state.addresses;
  const tenants = await seedTenants(grpc.access, gateway, options.fresh ? [] : known);
  const dev = await state.publish(tenants, { mongodb: around.mongoUrl, nats: around.natsUrl });
  const running = stack.move();
  return { dev, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Says every taken port at once, with the variable that moves it. */
async function assertPortsFree(ports: StackPorts): Promise<void> {
  const checks = portSettings.map(({ service, kind, variable }) => assertPortFree(ports[service][kind] ?? 0, variable));
  const faults = (await Promise.allSettled(checks)).filter((check) => check.status === "rejected");
  if (faults.length === 0) return;
  throw new DevstackError(
    faults.map(({ reason }) => (reason instanceof Error ? reason.message : String(reason))).join("\n"),
  );
}

async function openSurroundings(
  stack: AsyncDisposableStack,
  state: StackState,
  { stateDir, env }: DevStackOptions,
  ports: StackPorts,
): Promise<Surroundings> {
  const place = (name: string, port = 0) => ({
    dataDir: join(stateDir, "data", name),
    logFile: logFile(stateDir, name),
    port,
  });
  const mongoUrl = await superviseBacking(stack, state, "mongod", readPort(env, "MONGODB_PORT", 0), (port) =>
    openMongodb(place("mongod", port), env),
  );
  const natsUrl = await superviseBacking(stack, state, "nats", readPort(env, "NATS_PORT", 0), (port) =>
    openNats(place("nats", port), env),
  );
  return { mongoUrl, natsUrl, kekFile: await ensureKek(stateDir), databasePrefix: "vidimus", ports };
}

/** Keeps a backing server alive on the port it first got, so that whoever is connected finds it again. */
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
    port = Number(new URL(url).port);
    return server;
  };
  stack.use(await supervise(name, start, state));
  return url;
}

async function ensureKek(stateDir: string): Promise<string> {
  const path = join(stateDir, "kek");
  // `wx`: never over an old one, without which the signing keys in the database are lost.
  await writeFile(path, randomBytes(32), { mode: 0o600, flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  return path;
}

async function removeState(stateDir: string): Promise<void> {
  const gone = ["data", "logs", "kek", "dev.json"].map((name) =>
    rm(join(stateDir, name), { recursive: true, force: true }),
  );
  await Promise.all(gone);
}

function logFile(stateDir: string, name: string): string {
  return join(stateDir, "logs", `${name}.log`);
}

/** Knows the pids, and keeps dev.json true from the moment the tenants are known. */
class StackState implements SupervisorEvents {
  readonly addresses: ReturnType<typeof devAddresses>;
  readonly #stateDir: string;
  readonly #say: (line: string) => void;
  readonly #pids = new Map<string, number>();
  #published: Omit<DevJson, "pids"> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(stateDir: string, addresses: ReturnType<typeof devAddresses>, say: (line: string) => void) {
    this.#stateDir = stateDir;
    this.addresses = addresses;
    this.#say = say;
  }

  onStart(name: string, pid: number | undefined): void {
    if (pid !== undefined) this.#pids.set(name, pid);
    if (this.#published) {
      this.#say(`${name} runs again (pid ${pid})`);
      void this.#write();
    }
  }

  onExit(name: string, { code, signal }: { code: number | null; signal: string | null }): void {
    this.#pids.delete(name);
    this.#say(
      `${name} ended (${signal ?? `code ${code}`}), starting it again; its log is ${logFile(this.#stateDir, name)}`,
    );
  }

  onFault(name: string, error: unknown): void {
    this.#say(`${name} could not be started again: ${error instanceof Error ? error.message : String(error)}`);
  }

  async publish(tenants: readonly DevTenant[], backing: Pick<DevJson, "mongodb" | "nats">): Promise<DevJson> {
    this.#published = { ...this.addresses, ...backing, tenants };
    await this.#write();
    return this.#content(this.#published);
  }

  #content(published: Omit<DevJson, "pids">): DevJson {
    return { ...published, pids: Object.fromEntries(this.#pids) };
  }

  /** One after the other, so that the last word on disk is the last thing that happened. */
  #write(): Promise<void> {
    this.#writing = this.#writeAfter(this.#writing);
    return this.#writing;
  }

  async #writeAfter(earlier: Promise<void>): Promise<void> {
    await earlier;
    if (this.#published) await writeDevJson(this.#stateDir, this.#content(this.#published));
  }
}

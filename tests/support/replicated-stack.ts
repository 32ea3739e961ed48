import { openNatsServer } from "@vidimus/devstack/backing/nats-server";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { type DevJson, devAddresses } from "@vidimus/devstack/stack/dev-json";
import { seedTenants } from "@vidimus/devstack/stack/seed";
import { serviceEnv, type ServiceName, type ServicePorts, type StackPorts } from "@vidimus/devstack/stack/service-plan";
import { startServiceProcess, untilServiceReady } from "@vidimus/devstack/stack/service-process";
import type { Supervised } from "@vidimus/devstack/stack/supervisor";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";

/** One of several processes of a service. */
export interface ReplicaProcess {
  readonly name: string;
  /** Base URL of the public API, of gateways only. */
  readonly url: string;
  readonly opsUrl: string;
  /** `host:port` of the mesh door. */
  readonly meshTarget: string;
  pid(): number;
  /** Stops the process as a deployment does, and starts another one in its place. */
  restart(): Promise<void>;
  /** RPCs that the process has handled since its start. */
  handledCalls(): Promise<number>;
}

/** Two gateways in front of two documents processes. */
export interface ReplicatedStack extends AsyncDisposable {
  readonly gateways: readonly ReplicaProcess[];
  readonly documents: readonly ReplicaProcess[];
  /** Addresses of the first gateway and the first documents process. */
  readonly dev: Omit<DevJson, "pids">;
  /** Database of documents. */
  readonly database: string;
}

/** As in a deployment: balancers have this time to notice that a process is not ready. */
const drainDelayMs = 1_000;

/** Starts the processes on free ports, with databases of their own, and creates the tenants. */
export async function openReplicatedStack(mongoUrl: string): Promise<ReplicatedStack> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), "vidimus-replicas-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const nats = stack.use(await openNatsServer({ dataDir: join(dir, "nats"), port: 0, logFile: join(dir, "nats.log") }));
  const databasePrefix = testDatabaseName("replicas");
  const kekFiles = { signing: join(dir, "kek"), delivery: join(dir, "delivery-kek") };
  const backing = { mongoUrl, databaseUsers: undefined, natsUrl: nats.url, isOwnBroker: true };
  const shared = { ...backing, kekFiles, databasePrefix, identities: undefined };
  const env = {
    ...process.env,
    LOG_LEVEL: "warn",
    IP_RATE_LIMIT: "off",
    WRITE_BUDGET: "off",
    DRAIN_DELAY_MS: String(drainDelayMs),
  };

  const [first, second, third, fourth] = [await pickPorts(), await pickPorts(), await pickPorts(), await pickPorts()];
  const ports = { documents: [first, second], gateway: [third, fourth] };
  const targetOf = (service: keyof typeof ports) =>
    `ipv4:${ports[service].map(({ mesh }) => `127.0.0.1:${mesh}`).join(",")}`;
  const targets = { ACCESS_TARGET: targetOf("gateway"), DOCUMENTS_TARGET: targetOf("documents") };

  async function openAll(service: keyof typeof ports): Promise<ReplicaProcess[]> {
    const opened: ReplicaProcess[] = [];
    for (const [index, own] of ports[service].entries()) {
      const name = `${service}-${index + 1}`;
      const settings = serviceEnv(service, { ...shared, ports: { ...nowhere, [service]: own } }, env);
      const start = () => startServiceProcess(service, { ...settings, ...targets }, join(dir, name));
      opened.push(await openReplica(stack, service, name, own, start, join(dir, name)));
    }
    return opened;
  }

  const documents = await openAll("documents");
  const gateways = await openAll("gateway");
  const dev = devAddresses({ ...nowhere, documents: first, gateway: third });
  const tenants = await seedTenants(dev, []);
  const running = stack.move();
  return {
    gateways,
    documents,
    dev: { ...dev, mongodb: mongoUrl, nats: nats.url, tenants },
    database: `${databasePrefix}_documents`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Where nothing listens: the port of services that the test does without. */
const noPorts: ServicePorts = { grpc: 1, mesh: 1, ops: 1, http: 1 };
const nowhere: StackPorts = {
  signing: noPorts,
  documents: noPorts,
  phrases: noPorts,
  delivery: noPorts,
  gateway: noPorts,
};

async function pickPorts(): Promise<Required<ServicePorts>> {
  const [grpc, mesh, ops, http] = [
    await pickFreePort(),
    await pickFreePort(),
    await pickFreePort(),
    await pickFreePort(),
  ];
  return { grpc, mesh, ops, http };
}

async function openReplica(
  stack: AsyncDisposableStack,
  service: ServiceName,
  name: string,
  { ops, http, mesh }: Required<ServicePorts>,
  start: () => Promise<Supervised>,
  logFile: string,
): Promise<ReplicaProcess> {
  const opsUrl = `http://127.0.0.1:${ops}`;
  let current = await start();
  stack.defer(() => current[Symbol.asyncDispose]());
  await untilServiceReady(service, opsUrl, logFile);
  return {
    name,
    url: `http://127.0.0.1:${http}`,
    opsUrl,
    meshTarget: `127.0.0.1:${mesh}`,
    pid: () => current.pid!,
    async restart() {
      await current[Symbol.asyncDispose]();
      current = await start();
      await untilServiceReady(service, opsUrl, logFile);
    },
    async handledCalls() {
      const text = await (await fetch(`${opsUrl}/metrics`)).text();
      const counts = text.matchAll(/^vidimus_rpc_handled_seconds_count\{[^}]*\} (\d+)$/gm);
      return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Resolves when a documents process is handling calls of the load. */
export async function untilUsed(replica: ReplicaProcess): Promise<void> {
  const before = await replica.handledCalls();
  await vi.waitUntil(async () => (await replica.handledCalls()) > before + 10, { timeout: 10_000, interval: 50 });
}

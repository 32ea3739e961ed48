import { openNatsServer } from "@vidimus/devstack/backing/nats-server";
import { type DevJson, devAddresses } from "@vidimus/devstack/stack/dev-json";
import { seedTenants } from "@vidimus/devstack/stack/seed";
import { serviceEnv } from "@vidimus/devstack/stack/service-plan";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nowhere, openReplica, pickPorts, type ReplicaProcess } from "./replica-process.ts";

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
  const attestationKeyFile = join(dir, "attestation-key");
  await writeFile(attestationKeyFile, randomBytes(32), { mode: 0o600 });
  const shared = { ...backing, kekFiles, attestationKeyFile, databasePrefix, identities: undefined };
  const environment = {
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
      const settings = serviceEnv(service, { ...shared, ports: { ...nowhere, [service]: own } }, environment);
      const env = { ...settings, ...targets };
      opened.push(stack.use(await openReplica({ service, name, ports: own, env, logFile: join(dir, name) })));
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

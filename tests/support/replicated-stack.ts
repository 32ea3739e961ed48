import { openNatsServer } from "@vidimus/devstack/backing/nats-server";
import { type DevJson, devAddresses } from "@vidimus/devstack/stack/dev-json";
import { seedTenants } from "@vidimus/devstack/stack/seed";
import { serviceEnv, type StackPorts } from "@vidimus/devstack/stack/service-plan";
import { type ServiceName, serviceNames, type ServicePorts } from "@vidimus/devstack/stack/program-names";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openTestFolder } from "@vidimus/devstack/testing/test-folder";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openReplica, pickPorts, type ReplicaProcess } from "./replica-process.ts";

/** Two processes of every service. */
export interface ReplicatedStack extends AsyncDisposable {
  readonly processes: Readonly<Record<ServiceName, readonly ReplicaProcess[]>>;
  /** Addresses of the first process of each service. */
  readonly dev: Omit<DevJson, "pids">;
  /** Name of the database of the documents service. */
  readonly database: string;
}

type OwnPorts = Required<ServicePorts>;

/**
 * Long enough for `EdgeLoad`, which asks for readiness every 50 ms, to notice that a process is not
 * ready. deploy/k8s waits longer.
 */
const drainDelayMs = 1_000;

/** Starts the processes on free ports, with new databases and the tenants `demo` and `rival`. */
export async function openReplicatedStack(mongoUrl: string): Promise<ReplicatedStack> {
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(openTestFolder("replicas")).path;
  const nats = stack.use(await openNatsServer({ dataDir: join(dir, "nats"), port: 0, logFile: join(dir, "nats.log") }));
  const databasePrefix = testDatabaseName("replicas");
  const kekFiles = { signing: join(dir, "kek"), delivery: join(dir, "delivery-kek") };
  const backing = { mongoUrl, databaseUsers: undefined, natsUrl: nats.url, isOwnBroker: true };
  const attestationKeyFile = join(dir, "attestation-key");
  for (const file of [...Object.values(kekFiles), attestationKeyFile])
    await writeFile(file, randomBytes(32), { mode: 0o600 });
  const shared = { ...backing, kekFiles, attestationKeyFile, databasePrefix, identities: undefined };
  const environment = {
    ...process.env,
    LOG_LEVEL: "warn",
    IP_RATE_LIMIT: "off",
    WRITE_BUDGET: "off",
    DRAIN_DELAY_MS: String(drainDelayMs),
  };

  const picked = await Promise.all(
    serviceNames.map(async (service) => [service, [await pickPorts(), await pickPorts()]] as const),
  );
  const portsOf = Object.fromEntries(picked) as Record<ServiceName, [OwnPorts, OwnPorts]>;
  const ports = Object.fromEntries(picked.map(([service, [first]]) => [service, first])) as StackPorts;
  const replicas = picked.map(([service, [, second]]) => ({ service, name: `${service}-2`, ports: second }));

  const open = async (service: ServiceName, own: OwnPorts, number: number) => {
    const env = serviceEnv(service, { ...shared, ports, replicas }, environment, own);
    const name = `${service}-${number}`;
    return stack.use(await openReplica({ service, name, env, ports: own, logFile: join(dir, name) }));
  };
  const opened: [ServiceName, ReplicaProcess[]][] = [];
  // Ten Nodes that start at once would slow each other down beyond the 3.5 s in which each must
  // reach MongoDB.
  for (const service of serviceNames) {
    const both = portsOf[service].map((own, index) => open(service, own, index + 1));
    opened.push([service, await Promise.all(both)]);
  }
  const processes = Object.fromEntries(opened) as unknown as ReplicatedStack["processes"];
  const dev = devAddresses(ports);
  const tenants = await seedTenants(dev, []);
  const running = stack.move();
  return {
    processes,
    dev: { ...dev, mongodb: mongoUrl, nats: nats.url, tenants },
    database: `${databasePrefix}_documents`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

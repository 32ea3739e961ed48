import { startDelivery } from "@vidimus/delivery/delivery";
import { readConfig as readDelivery } from "@vidimus/delivery/config";
import { startDocuments } from "@vidimus/documents/documents";
import { readConfig as readDocuments } from "@vidimus/documents/config";
import { startGateway } from "@vidimus/gateway/gateway";
import { readConfig as readGateway } from "@vidimus/gateway/config";
import type { RunningService } from "@vidimus/kit/service/service";
import { startPhrases } from "@vidimus/phrases/phrases";
import { readConfig as readPhrases } from "@vidimus/phrases/config";
import { startSigning } from "@vidimus/signing/signing";
import { readConfig as readSigning } from "@vidimus/signing/config";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pickFreePort } from "../port-guard.ts";
import { ensureDatabaseUsers, hasUser } from "../backing/database-users.ts";
import { openNatsServer } from "../backing/nats-server.ts";
import { type DevIdentities, makeIdentities } from "../stack/dev-identities.ts";
import { type DevJson, devAddresses } from "../stack/dev-json.ts";
import { seedTenants } from "../stack/seed.ts";
import { databaseUsers, serviceEnv, type SharedSettings } from "../stack/service-plan.ts";
import { type ServiceName, serviceNames, type ServicePorts } from "../stack/program-names.ts";
import { testDatabaseName } from "./database.ts";
import { openTestFolder } from "./test-folder.ts";

/** The five services in this process, on free ports, with the tenants `demo` and `rival`. */
export interface Constellation extends AsyncDisposable {
  readonly dev: Omit<DevJson, "pids">;
  /** Undefined without certificates. */
  readonly identities: DevIdentities | undefined;
}

type Started = RunningService & { readonly grpcPort?: number; readonly httpPort?: number };

const starters: Readonly<Record<ServiceName, (env: NodeJS.ProcessEnv) => Promise<Started>>> = {
  signing: (env) => startSigning(readSigning(env)),
  documents: (env) => startDocuments(readDocuments(env)),
  phrases: (env) => startPhrases(readPhrases(env)),
  delivery: (env) => startDelivery(readDelivery(env)),
  gateway: (env) => startGateway(readGateway(env)),
};

/**
 * Starts the services, for end-to-end tests, with new databases on the given MongoDB, and with a
 * NATS server of their own because the name of their stream is fixed.
 *
 * @param options.env further settings, for example `{ IP_RATE_LIMIT: "off" }`; addresses, ports and
 * databases stay those of the constellation
 * @param options.mtls makes certificates; then every door and the broker refuse a caller without
 * one. When `mongoUrl` names a user, each service also gets a MongoDB user of its own. True by
 * default when VIDIMUS_TEST_MTLS is `on`
 */
export async function openConstellation(options: {
  mongoUrl: string;
  env?: NodeJS.ProcessEnv;
  mtls?: boolean;
}): Promise<Constellation> {
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(openTestFolder("constellation")).path;
  const kekFiles = { signing: join(dir, "kek"), delivery: join(dir, "delivery-kek") };
  const attestationKeyFile = join(dir, "attestation-key");
  const secretFiles = [...Object.values(kekFiles), attestationKeyFile];
  for (const file of secretFiles) await writeFile(file, randomBytes(32), { mode: 0o600 });

  const ports = Object.fromEntries(serviceNames.map((name) => [name, { grpc: 0, mesh: 0, ops: 0, http: 0 }])) as Record<
    ServiceName,
    ServicePorts
  >;
  // Signing, documents, phrases and delivery start before services that they call, so the mesh
  // ports of documents and the gateway are chosen before any service starts.
  for (const name of ["documents", "gateway"] as const) ports[name] = { ...ports[name], mesh: await pickFreePort() };
  const databasePrefix = testDatabaseName("e2e");
  const mtls = options.mtls ?? process.env["VIDIMUS_TEST_MTLS"] === "on";
  const identities = mtls ? await makeIdentities(join(dir, "tls")) : undefined;
  const backing = await openBacking(stack, dir, options.mongoUrl, databasePrefix, identities);
  const shared = { ...backing, kekFiles, attestationKeyFile, databasePrefix, identities, ports };
  for (const name of serviceNames) {
    const service = stack.use(await starters[name](serviceEnv(name, shared, { LOG_LEVEL: "warn", ...options.env })));
    const { grpcPort: grpc = 0, meshPort: mesh, opsPort: ops, httpPort: http = 0 } = service;
    ports[name] = { grpc, mesh, ops, http };
  }
  const addresses = devAddresses(ports);
  await Promise.all(serviceNames.map((name) => untilTenantsKnown(addresses.ops[name])));
  const reached = { ...addresses, ...(identities && { tls: identities.operator }) };
  const tenants = await seedTenants(reached, []);
  const running = stack.move();
  return {
    identities,
    dev: { ...reached, mongodb: options.mongoUrl, nats: shared.natsUrl, tenants },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function openBacking(
  stack: AsyncDisposableStack,
  dir: string,
  mongoUrl: string,
  databasePrefix: string,
  identities: DevIdentities | undefined,
): Promise<Pick<SharedSettings, "mongoUrl" | "databaseUsers" | "natsUrl" | "isOwnBroker">> {
  const options = { dataDir: join(dir, "nats"), port: 0, logFile: join(dir, "nats.log") };
  const nats = stack.use(await openNatsServer({ ...options, configFile: identities?.brokerConfig }));
  const users =
    identities && hasUser(mongoUrl) ? databaseUsers(databasePrefix, identities.database.passwords) : undefined;
  if (users) await ensureDatabaseUsers(mongoUrl, Object.values(users));
  return { mongoUrl, databaseUsers: users, natsUrl: nats.url, isOwnBroker: true };
}

/** Waits until a service knows the tenants; some start before the gateway, which keeps them. */
async function untilTenantsKnown(opsUrl: string): Promise<void> {
  for (;;) {
    const answer = (await (await fetch(`${opsUrl}/readyz`)).json()) as { ok: boolean; degraded?: string };
    if (answer.ok && !answer.degraded?.includes("tenants")) return;
    await pause(20);
  }
}

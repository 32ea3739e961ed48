import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { openNatsServer } from "@vidimus/devstack/backing/nats-server";
import { databaseOf, serviceEnv } from "@vidimus/devstack/stack/service-plan";
import type { ServiceName, ServicePorts } from "@vidimus/devstack/stack/program-names";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openTestFolder } from "@vidimus/devstack/testing/test-folder";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { as } from "./newsroom.ts";
import { nowhere, openReplica, pickPorts, type ReplicaProcess } from "./replica-process.ts";

/** A nats-server that can be killed and started again on the same port. */
interface Broker {
  readonly url: string;
  kill(): Promise<void>;
  /** @param isWiped whether what the broker has stored is deleted first */
  start(isWiped?: boolean): Promise<void>;
}

/** Services as processes, without a gateway: every tenant id counts as known. */
export interface DeliveryStack extends AsyncDisposable {
  readonly signing: ReplicaProcess;
  readonly documents: ReplicaProcess;
  readonly deliveries: readonly ReplicaProcess[];
  readonly broker: Broker;
  readonly databases: { readonly documents: string; readonly signing: string; readonly delivery: string };
  readonly editor: RpcClient<typeof DocumentService>;
  /** Registers an endpoint at a delivery process, the first by default. Returns its id. */
  createEndpoint(tenantId: string, url: string, at?: ReplicaProcess): Promise<string>;
  /** Resolves when delivery has settled every snapshot. @throws after `ms`, 30 s by default */
  untilSettled(ms?: number): Promise<void>;
}

interface DeliveryStackOptions {
  readonly mongoUrl: string;
  /** 3 by default. */
  readonly deliveries?: number;
  /** Settings of every process; ports, addresses, databases and key files cannot be set. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts the processes on free ports, with databases of their own. */
export async function openDeliveryStack(options: DeliveryStackOptions): Promise<DeliveryStack> {
  const { mongoUrl, deliveries: count = 3, env = {} } = options;
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(openTestFolder("deliveries")).path;
  const kekFiles = { signing: join(dir, "kek"), delivery: join(dir, "delivery-kek") };
  const attestationKeyFile = join(dir, "attestation-key");
  for (const file of [...Object.values(kekFiles), attestationKeyFile])
    await writeFile(file, randomBytes(32), { mode: 0o600 });
  const broker = stack.use(await openBroker(dir));
  const databasePrefix = testDatabaseName("deliveries");
  const picked = await Promise.all(Array.from({ length: count + 2 }, () => pickPorts()));
  const [signingPorts, documentsPorts, ...deliveryPorts] = picked as [OwnPorts, OwnPorts, ...OwnPorts[]];
  const ports = { ...nowhere, signing: signingPorts, documents: documentsPorts };
  const backing = { mongoUrl, databaseUsers: undefined, natsUrl: broker.url, isOwnBroker: true };
  const shared = { ...backing, kekFiles, attestationKeyFile, databasePrefix, identities: undefined, ports };
  const settings = { ...process.env, LOG_LEVEL: "warn", ...env };
  const open = async (service: ServiceName, name: string, own: OwnPorts) => {
    const whole = { ...serviceEnv(service, shared, settings, own), ACCESS_TARGET: "off" };
    return stack.use(await openReplica({ service, name, ports: own, env: whole, logFile: join(dir, name) }));
  };
  const signing = await open("signing", "signing", signingPorts);
  const documents = await open("documents", "documents", documentsPorts);
  const deliveries: ReplicaProcess[] = [];
  for (const [at, own] of deliveryPorts.entries()) deliveries.push(await open("delivery", `delivery-${at + 1}`, own));
  const editor = stack.use(openRpcClient(DocumentService, { target: documents.teamsTarget }));
  const feed = stack.use(openRpcClient(SnapshotFeedService, { target: documents.meshTarget }));
  const running = stack.move();
  return {
    signing,
    documents,
    deliveries,
    broker,
    databases: {
      documents: databaseOf("documents", databasePrefix),
      signing: databaseOf("signing", databasePrefix),
      delivery: databaseOf("delivery", databasePrefix),
    },
    editor,
    async createEndpoint(tenantId, url, at = deliveries[0]!) {
      using endpoints = openRpcClient(EndpointService, { target: at.teamsTarget });
      const { endpoint } = await endpoints.createEndpoint({ tenantId, url }, as("admin"));
      return endpoint!.endpointId;
    },
    async untilSettled(ms = 30_000) {
      const pending = async () => (await feed.listPendingSnapshots({ limit: 1 })).references;
      await vi.waitFor(async () => expect(await pending()).toEqual([]), { timeout: ms, interval: 100 });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type OwnPorts = Required<ServicePorts>;

async function openBroker(dir: string): Promise<Broker & AsyncDisposable> {
  const files = { dataDir: join(dir, "nats"), logFile: join(dir, "nats.log") };
  let server = await openNatsServer({ ...files, port: 0 });
  const port = Number(new URL(server.url).port);
  return {
    url: server.url,
    async kill() {
      process.kill(server.pid!, "SIGKILL");
      await server.exited;
    },
    async start(isWiped = false) {
      if (isWiped) await rm(files.dataDir, { recursive: true, force: true });
      server = await openNatsServer({ ...files, port });
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

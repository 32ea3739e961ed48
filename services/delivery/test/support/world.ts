import { toBinary, create } from "@bufbuild/protobuf";
import { snapshotSubject } from "@vidimus/contracts/snapshot-subject";
import { SnapshotReferencesSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { startChild } from "@vidimus/devstack/child";
import { openNatsServer } from "@vidimus/devstack/backing/nats-server";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openEventBus } from "@vidimus/kit/nats/event-bus";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { createSecretKey, type KeyObject, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { patient } from "@vidimus/kit/testing/patient";
import { inject, vi } from "vitest";
import { type DeliveryConfig, type DeliveryPace, promisedPace } from "../../src/config.ts";
import { startDelivery } from "../../src/delivery.ts";
import type {
  DeliveryRow,
  EndpointRow,
  EndpointStateRow,
  ReplicaRow,
  ResendRow,
  ResigningRow,
  TrustListRow,
} from "../../src/store/rows.ts";
import { type Feed, type FeedSnapshot, openFeed, snapshotOf } from "./feed.ts";
import { openFakeSigning } from "./fake-signing.ts";
import { silentProcess } from "./scratch-log.ts";

const testPace: DeliveryPace = {
  ...promisedPace,
  // Long enough that no attempt is given up because the machine is busy.
  attemptMs: 5_000,
  leaseMarginMs: 500,
  pollMs: 200,
  overdueMs: 1_000,
  reconcileMs: 500,
  reconcileAloneMs: 100,
  trustListMs: 200,
  endOldMs: 500,
  resigningGraceMs: 1_000,
  kekMs: 100,
  kekGoneMs: 2_000,
  retries: { delaysMs: [50, 100], ageMsMax: 60_000 },
};

export const asAdmin = { headers: { "vidimus-role": "admin", "vidimus-actor": "kari" } };

export const testKek = createSecretKey(Buffer.alloc(32, 5));

/**
 * The services that delivery uses: documents and signing as fakes, a real broker and a real
 * MongoDB.
 */
export async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const feed = stack.use(await openFeed());
  const signing = stack.use(await openFakeSigning());
  const dir = await mkdtemp(join(tmpdir(), "vidimus-delivery-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const broker = stack.use(await openBroker(dir));
  const database = testDatabaseName("delivery");
  const mongo = stack.use(await openMongo({ url: inject("mongoUrl"), database, appName: "delivery-test" }));
  const opened = stack.move();
  return {
    feed,
    signing,
    broker,
    endpoints: () => mongo.db.collection<EndpointRow>("endpoints"),
    states: () => mongo.db.collection<EndpointStateRow>("endpoint_states"),
    replicas: () => mongo.db.collection<ReplicaRow>("replicas"),
    deliveries: () => mongo.db.collection<DeliveryRow>("deliveries"),
    trustList: () => mongo.db.collection<TrustListRow>("trust_list"),
    resigning: () => mongo.db.collection<ResigningRow>("resigning"),
    resends: () => mongo.db.collection<ResendRow>("resends"),
    configOf: (pace: Partial<DeliveryPace> = {}): DeliveryConfig => ({
      host: "127.0.0.1",
      grpcPort: 0,
      meshPort: 0,
      opsPort: 0,
      mongoUrl: inject("mongoUrl"),
      database,
      migrate: "on",
      logLevel: process.env["TEST_LOG_LEVEL"] ?? "silent",
      drainDelayMs: 0,
      documentsTarget: feed.target,
      signingTarget: signing.target,
      broker: { url: broker.url() },
      kek: testKek,
      allowHttp: true,
      allowCidrs: ["127.0.0.0/8", "::1/128"],
      denyCidrs: [],
      allowPorts: "1-65535",
      pace: { ...testPace, ...pace },
    }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

async function openBroker(dir: string) {
  const options = { dataDir: join(dir, "nats"), logFile: join(dir, "nats.log") };
  let server = await openNatsServer({ ...options, port: 0 });
  const port = Number(new URL(server.url).port);
  let bus = connect();

  function connect() {
    const { log, metrics } = silentProcess("relay");
    return openEventBus({ url: `nats://127.0.0.1:${port}`, name: "relay", log, registry: metrics.registry });
  }
  return {
    url: () => `nats://127.0.0.1:${port}`,
    async stop() {
      await server[Symbol.asyncDispose]();
    },
    async wipeAndStart() {
      await rm(options.dataDir, { recursive: true, force: true });
      server = await openNatsServer({ ...options, port });
    },
    /** Publishes a reference to the subject that documents uses, once the broker is connected. */
    async announce({ tenantId, documentId, sequence }: FeedSnapshot) {
      const message = { references: [{ tenantId, documentId, sequence: BigInt(sequence) }] };
      const data = toBinary(SnapshotReferencesSchema, create(SnapshotReferencesSchema, message));
      await vi.waitFor(() => bus.ping(), patient);
      bus.broadcast(snapshotSubject(tenantId), data);
    },
    async [Symbol.asyncDispose]() {
      await bus[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Starts delivery in this process, with a client. */
export async function openDelivery(
  world: World,
  pace: Partial<DeliveryPace> = {},
  settings: Partial<DeliveryConfig> = {},
) {
  const service = await startDelivery({ ...world.configOf(pace), ...settings });
  const endpoints = openRpcClient(EndpointService, { target: `127.0.0.1:${service.grpcPort}` });
  return {
    service,
    endpoints,
    async endpoint(tenantId: string, url: string) {
      const { endpoint, secret } = await endpoints.createEndpoint({ tenantId, url }, asAdmin);
      return { endpointId: endpoint?.endpointId ?? "", secret };
    },
    async [Symbol.asyncDispose]() {
      endpoints[Symbol.dispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

/**
 * Starts delivery in a process of its own, which can be killed. Its leases are short, because tests
 * wait for their ends.
 */
export async function openDeliveryProcess(
  world: World,
  pace: Partial<DeliveryPace> = {},
  keks: Partial<Pick<DeliveryConfig, "kek" | "otherKek">> = {},
) {
  const script = fileURLToPath(new URL("./delivery-process.ts", import.meta.url));
  const dir = await mkdtemp(join(tmpdir(), "vidimus-delivery-process-"));
  const logFile = join(dir, "delivery.log");
  const config = { ...world.configOf({ attemptMs: 1_000, ...pace }), ...keks };
  const text = (key: KeyObject | undefined) => key?.export().toString("base64");
  const child = await startChild({
    command: process.execPath,
    args: [
      script,
      JSON.stringify({ ...config, kek: text(config.kek), otherKek: text(config.otherKek), logLevel: "warn" }),
    ],
    logFile,
  });
  return {
    pid: child.pid,
    /** Sends SIGKILL. Resolves when the process has ended. */
    async kill() {
      child.kill();
      await child.exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export async function publish(
  { feed, broker }: { feed: Feed; broker: World["broker"] },
  tenantId: string,
  documentId: string = randomUUID(),
  sequence = 1,
): Promise<FeedSnapshot> {
  const snapshot = snapshotOf(tenantId, documentId, sequence);
  feed.publish(snapshot);
  await broker.announce(snapshot);
  return snapshot;
}

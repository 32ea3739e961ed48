/** A replay survives the process that works on it. */
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { replayStates } from "../../services/delivery/src/domain/delivery-log.ts";
import { ReplayStore } from "../../services/delivery/src/store/replay-store.ts";
import { snapshotOf } from "../../services/delivery/test/support/feed.ts";
import { openReceiver, type ReceivedWebhook } from "../../services/delivery/test/support/receiver.ts";
import {
  openDelivery,
  openDeliveryProcess,
  openWorld,
  type World,
} from "../../services/delivery/test/support/world.ts";

const documents = 500;
const total = documents * 2;

const sequenceOf = ({ body }: ReceivedWebhook) => {
  const { data } = JSON.parse(body.toString()) as { data: { documentId: string; sequence: number } };
  return data;
};

function store({ feed }: World): void {
  for (let at = 0; at < documents; at += 1) {
    const documentId = randomUUID();
    for (const sequence of [1, 2]) {
      const committedAt = new Date(Date.now() - 60_000 + at);
      feed.store({ ...snapshotOf("killed", documentId, sequence), committedAt });
    }
  }
}

test(
  "a replay of 1,000 snapshots whose process is killed goes on in another, in order and complete",
  { timeout: 120_000 },
  async () => {
    await using own = await openWorld();
    store(own);
    const enough = Promise.withResolvers<void>();
    await using receiver = await openReceiver((_webhook, response) => {
      if (receiver.received.length === total / 2) enough.resolve();
      response.writeHead(204).end();
    });
    const replayId = await prepareReplay(own, receiver.url);
    const doomed = await openDeliveryProcess(own);
    await enough.promise;
    await doomed.kill();
    const killedAt = receiver.received.length;
    await doomed[Symbol.asyncDispose]();
    await using other = await openDelivery(own);
    using otherLog = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${other.service.grpcPort}` });
    const name = { tenantId: "killed", replayId };
    const ended = await vi.waitFor(
      async () => {
        const { replay } = await otherLog.getReplay(name);
        expect(replay?.state).not.toBe("running");
        return replay;
      },
      { timeout: 90_000, interval: 100 },
    );
    expect(killedAt).toBeLessThan(total);
    expect(ended).toMatchObject({ state: "done", seen: BigInt(total), delivered: BigInt(total), failed: 0n });
    const ids = receiver.received.map(({ headers }) => String(headers["webhook-id"]));
    expect(new Set(ids).size).toBe(total);
    expect(ids.length).toBeLessThanOrEqual(total + 32);
    const reached = new Map<string, number>();
    for (const { documentId, sequence } of receiver.received.map(sequenceOf)) {
      expect(sequence).toBeGreaterThanOrEqual(reached.get(documentId) ?? 1);
      reached.set(documentId, sequence);
    }
  },
);

/** Stores a replay to a new endpoint while no process of delivery runs. */
async function prepareReplay(of: World, url: string): Promise<string> {
  const { mongoUrl, database } = of.configOf();
  const registering = await openDelivery(of);
  const { endpointId } = await registering.endpoint("killed", url);
  await registering[Symbol.asyncDispose]();
  await using mongo = await openMongo({ url: mongoUrl, database, appName: "test" });
  const replayId = randomUUID();
  const counts = { seen: 0, delivered: 0, failed: 0, skipped: 0 };
  const range = { until: new Date(), states: replayStates, latestOnly: false, pageToken: "" };
  const replay = {
    replayId,
    tenantId: "killed",
    endpointId,
    ...range,
    state: "running" as const,
    counts,
    failedTurns: 0,
  };
  await new ReplayStore(mongo.db).insert({ ...replay, createdAt: new Date() });
  return replayId;
}

/** A replay of 10,000 snapshots survives the processes that work on it. */
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { expect, inject, test, vi } from "vitest";
import { openLedgerReceiver } from "../support/delivery-ledger.ts";
import { openDeliveryStack } from "../support/delivery-stack.ts";
import { as } from "../support/newsroom.ts";
import { PublishingRun } from "../support/publishing-run.ts";

const documents = 5_000;
const total = 2 * documents;
/** Most attempts of a replay in flight. */
const inFlightMax = 32;

test("a replay of 10,000 snapshots is complete and in order, though its processes are killed twice", async () => {
  const tenantId = "replayed";
  await using stack = await openDeliveryStack({ mongoUrl: inject("mongoUrl"), deliveries: 2 });
  const run = new PublishingRun(stack.editor);
  await run.advance(await run.create(tenantId, documents), 2);
  await stack.untilSettled(120_000);
  await using receiver = await openLedgerReceiver();
  const marks = new Set<unknown>();
  let killAt = total / 3;
  const reached = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  receiver.answerWith((post, response, request) => {
    marks.add(request.headers["vidimus-replay-id"]);
    if (post.number >= killAt) reached[killAt < total / 2 ? 0 : 1]!.resolve();
    response.writeHead(204).end();
  });
  const endpointId = await stack.createEndpoint(tenantId, receiver.url);
  const [one] = stack.deliveries;
  using log = openRpcClient(DeliveryLogService, { target: one!.teamsTarget });
  const { replay } = await log.startReplay({ tenantId, endpointId, all: true }, as("admin"));
  const startedAt = performance.now();
  for (const { promise } of reached) {
    await promise;
    await Promise.all(stack.deliveries.map((each) => each.kill()));
    expect(receiver.ledger.posts.length).toBeLessThan(total);
    killAt = (2 * total) / 3;
    await Promise.all(stack.deliveries.map((each) => each.start()));
  }
  const ended = await vi.waitFor(
    async () => {
      const { replay: now } = await log.getReplay({ tenantId, replayId: replay!.replayId });
      expect(now?.state).not.toBe("running");
      return now;
    },
    { timeout: 600_000, interval: 250 },
  );
  console.log(`10,000 were replayed in ${Math.round((performance.now() - startedAt) / 1000)} s, with two kills`);
  expect(ended).toMatchObject({ state: "done", seen: BigInt(total), delivered: BigInt(total), failed: 0n });
  await receiver.ledger.expectDelivered(run.published, { each: true });
  expect([...marks]).toEqual([replay!.replayId]);
  const { posts } = receiver.ledger;
  expect(new Set(posts.map(({ webhookId }) => webhookId)).size).toBe(total);
  expect(posts.length).toBeLessThanOrEqual(total + 2 * inFlightMax);
});

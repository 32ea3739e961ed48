import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { openThreeNodes, type ThreeNodes } from "@vidimus/devstack/testing/three-nodes";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { article, type Publishing, runPublishing } from "./publishing.ts";

/**
 * Readers page by cursor, catch up by `updatedSince` and send tags while the primary steps down.
 * The new primary has not heard yet that a majority holds the last publications, and the process
 * that answers has last read the clock before these publications.
 */
export function describeFailoverWalks(rounds: number): void {
  let stage: Stage;

  beforeAll(async () => void (stage = await openStage()), 120_000);
  afterAll(() => stage?.[Symbol.asyncDispose](), 60_000);

  test.each(Array.from({ length: rounds }, (_, round) => round))(
    "round %i: readers by page, by updatedSince and by tag lose no row across a step-down",
    async (round) => walkAcross(stage, round),
    120_000,
  );
}

interface Stage extends AsyncDisposable {
  readonly set: ThreeNodes;
  readonly publisher: Publishing;
  /** A second service on the same database, which stands for another process. */
  readonly other: Publishing;
}

async function openStage(): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const set = stack.use(await openThreeNodes());
  const settings = { mongoUrl: set.url, natsUrl: inject("natsUrl") };
  const publisher = stack.use(await runPublishing(settings));
  const other = stack.use(await runPublishing({ ...settings, database: publisher.database }));
  const opened = stack.move();
  return { set, publisher, other, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function walkAcross(stage: Stage, round: number): Promise<void> {
  const { set, publisher, other } = stage;
  const tenants = [`page_${round}`, `since_${round}`, `tag_${round}`] as const;
  const [paged, caughtUp, held] = tenants;
  const publishAll = () => Promise.all(tenants.map((tenantId) => publish(publisher, tenantId)));
  await vi.waitFor(async () => expect(await isPrimary(set.first)).toBe(true), { timeout: 40_000, interval: 100 });
  const first = await publishAll();
  // The other process remembers the clock as it is now.
  await Promise.all(tenants.map((tenantId) => pageOf(other, tenantId)));
  await holdSnapshots(set, "alwaysOn");
  const second = await publishAll();
  const third = await publishAll();
  const page = await pageOf(publisher, paged, { limit: 1 });
  const { items } = await pageOf(publisher, caughtUp, { limit: 1 });
  const whole = await pageOf(publisher, held);
  expect([page.ids, items.map(({ id }) => id)]).toEqual([[third[0]], [third[1]]]);

  const updatedSince = timestampFromDate(new Date(items[0]?.updated_at ?? ""));
  const [next, since, tagged] = await readAcross(stage, () =>
    Promise.all([
      pageOf(other, paged, { limit: 1, cursor: page.nextCursor }),
      pageOf(other, caughtUp, { updatedSince }),
      pageOf(other, held, { ifNoneMatch: whole.etag }),
    ]),
  );
  expect(next.ids).toEqual([second[0]]);
  expect(since.ids).toEqual([third[1]]);
  expect(tagged.notModified || tagged.ids.join() === [third[2], second[2], first[2]].join()).toBe(true);
  const last = await pageOf(other, paged, { limit: 1, cursor: next.nextCursor });
  expect([last.ids, last.hasMore]).toEqual([[first[0]], false]);
}

async function publish(service: Publishing, tenantId: string): Promise<string> {
  const id = await service.create(tenantId, article());
  await service.take(tenantId, id, "publish");
  return id;
}

async function pageOf({ published }: Publishing, tenantId: string, query: object = {}) {
  const request = { tenantId, type: "core/article", limit: 50, ...query };
  const answer = await published.listPublishedDocuments(request, { timeoutMs: 30_000 });
  const items: { id: string; updated_at: string }[] = JSON.parse(Buffer.from(answer.itemsJson).toString() || "[]");
  return { ...answer, items, ids: items.map(({ id }) => id) };
}

/**
 * Makes the second node the primary. Ends the hold of `holdSnapshots` once `read` waits on this
 * node or has ended.
 */
async function readAcross<T>({ set, publisher }: Stage, read: () => Promise<T>): Promise<T> {
  const soon = { timeout: 20_000, interval: 20 };
  await set.first.command({ replSetStepDown: 4, secondaryCatchUpPeriodSecs: 3 });
  await vi.waitFor(async () => expect(await isPrimary(set.second)).toBe(true), soon);
  let ended = false;
  const answer = read().finally(() => (ended = true));
  answer.catch(() => {});
  await vi.waitFor(async () => expect(ended || (await waitsOnSecond(set, publisher.database)) > 0).toBe(true), soon);
  await holdSnapshots(set, "off");
  return answer;
}

/** Keeps the second node in the state of one that has not heard yet what a majority holds. */
function holdSnapshots({ second }: ThreeNodes, mode: "alwaysOn" | "off") {
  return second.command({ configureFailPoint: "disableSnapshotting", mode });
}

async function isPrimary({ command }: ThreeNodes["first"]): Promise<boolean> {
  const { isWritablePrimary } = (await command({ hello: 1 })) as { isWritablePrimary: boolean };
  return isWritablePrimary;
}

/** Number of reads that the second node has begun and not ended. */
async function waitsOnSecond({ second }: ThreeNodes, database: string): Promise<number> {
  const command = { currentOp: true, "command.$db": database, "command.find": { $exists: true } };
  const { inprog } = (await second.command(command)) as { inprog: unknown[] };
  return inprog.length;
}

import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import type { RpcClient } from "@vidimus/kit/rpc/client/client";
import type { Db } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import { runCallers } from "../load/caller-load.ts";
import { article } from "../load/article.ts";

export const asAdmin = { headers: { "vidimus-role": "admin", "vidimus-actor": "bench" } };

export const asEditor = { headers: { "vidimus-role": "editor", "vidimus-actor": "bench" } };

type Documents = Pick<RpcClient<typeof DocumentService>, "batchCreateDocuments" | "batchTransitionDocuments">;

const batchMax = 64;
const minuteMs = 60_000;

/** Creates articles, each of about `bytes` bytes. Returns their ids. */
export async function createDrafts(
  documents: Documents,
  tenantId: string,
  count: number,
  bytes: number,
): Promise<string[]> {
  const articles = Array.from({ length: count }, () => article(bytes));
  await inBatches(articles, async (batch) => {
    const items = batch.map((each) => ({ tenantId, draft: { documentJson: Buffer.from(JSON.stringify(each)) } }));
    const { results } = await documents.batchCreateDocuments({ items }, asEditor);
    requireAll(results, "created");
  });
  return articles.map(({ id }) => id);
}

/** Publishes drafts that nobody has edited. Throws when one of them is not published. */
export async function publishAll(documents: Documents, tenantId: string, ids: readonly string[]): Promise<void> {
  await inBatches(ids, async (batch) => {
    const transitions = batch.map((documentId) => ({ documentId, name: "publish", expectedVersion: 1n }));
    const { results } = await documents.batchTransitionDocuments({ tenantId, transitions }, asEditor);
    requireAll(results, "transitioned");
  });
}

/**
 * Resolves when delivery has settled every snapshot. Without this wait the work of delivery for one
 * side would fall into the turn of the other side.
 */
export async function untilDelivered(documents: Db): Promise<void> {
  const until = Date.now() + 5 * minuteMs;
  for (;;) {
    const open = await documents.collection("snapshots").countDocuments({ pending: true });
    if (open === 0) return;
    if (Date.now() > until) throw new Error(`${open} snapshots are not delivered after five minutes`);
    await pause(100);
  }
}

async function inBatches<Item>(items: readonly Item[], run: (batch: Item[]) => Promise<void>): Promise<void> {
  let start = 0;
  const call = () => {
    const batch = items.slice(start, start + batchMax);
    start += batchMax;
    return batch.length === 0 ? undefined : run(batch);
  };
  await runCallers({ callers: 4, durationMs: 30 * minuteMs, call });
}

function requireAll(results: readonly { outcome: { case: string | undefined; value?: unknown } }[], wanted: string) {
  const other = results.find(({ outcome }) => outcome.case !== wanted);
  if (other) throw new Error(`not ${wanted}`, { cause: other.outcome.value });
}

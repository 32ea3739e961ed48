import { DomainError } from "@vidimus/kit/errors";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Dictionary, wantedOf } from "../dictionary.ts";
import type { PhraseDraft } from "../phrase.ts";
import { type Stamps, UpsertPlanner } from "../plan-upserts.ts";
import { upsertWithRetry } from "../write-with-retry.ts";
import type { PackedDrafts } from "./packed-drafts.ts";
import type { ParsedImport } from "./parse-import.ts";
import { RowFaults } from "./row-faults.ts";

/**
 * Checks that no row's id belongs to one phrase while its language and text belong to another.
 *
 * @throws DomainError `invalid` naming the rows
 */
export async function checkConflicts(
  dictionary: Pick<Dictionary, "find">,
  tenantId: string,
  { drafts, lines }: ParsedImport,
  stamps: Stamps,
): Promise<void> {
  // Drafts without ids select phrases by their keys only, which cannot conflict.
  if (!drafts.withIds) return;
  const planner = new UpsertPlanner(stamps);
  for (const batch of drafts.batches())
    planner.know((await dictionary.find(tenantId, wantedOf(batch))).map(withoutTexts));
  const faults = new RowFaults();
  let before = 0;
  for (const batch of drafts.batches()) {
    for (const { position, message } of planner.plan(batch.map(withoutTexts)).conflicts) {
      faults.add(before + position, lines[before + position], [{ pointer: "/id", message }]);
    }
    before += batch.length;
    await nextTurn();
  }
  faults.check(drafts.count);
}

/**
 * Upserts the drafts in order. Drafts written before a failure stay written; a repeated import
 * gives the same result as one that did not fail.
 *
 * @throws DomainError `conflict` when a concurrent change gave the language and text of a draft to
 * another phrase
 */
export async function importDrafts(
  dictionary: Pick<Dictionary, "find" | "change">,
  tenantId: string,
  drafts: PackedDrafts,
  stamps: Stamps,
  signal: AbortSignal,
): Promise<void> {
  await dictionary.change(tenantId, async (write) => {
    for (const batch of drafts.batches()) {
      signal.throwIfAborted();
      const { conflicts } = await upsertWithRetry(dictionary, tenantId, batch, stamps, write);
      if (conflicts.length === 0) continue;
      throw new DomainError("conflict", "the dictionary has changed during the import; it is safe to repeat");
    }
  });
}

/**
 * Conflicts depend on ids and keys only. Without the longest fields the whole import fits into
 * memory.
 */
function withoutTexts<D extends PhraseDraft>(draft: D): D {
  return { ...draft, commonMistakes: [], description: "" };
}

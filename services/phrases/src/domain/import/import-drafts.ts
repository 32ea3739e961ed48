import { DomainError } from "@vidimus/kit/errors";
import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Dictionary, wantedOf } from "../dictionary.ts";
import type { PhraseDraft } from "../phrase.ts";
import { type Stamps, UpsertPlanner } from "../plan-upserts.ts";
import { upsertWithRetry } from "../write-with-retry.ts";
import { ImportTally } from "./import-tally.ts";
import type { PackedDrafts } from "./packed-drafts.ts";
import type { ParsedImport } from "./parse-import.ts";
import { RowFaults } from "./row-faults.ts";

/**
 * Plans the whole import against the current dictionary, without writing. Checks that no row's id
 * belongs to one phrase while its language and text belong to another.
 *
 * @throws DomainError `invalid` naming the first such rows
 */
export async function previewImport(
  dictionary: Pick<Dictionary, "find">,
  tenantId: string,
  { drafts, lines }: ParsedImport,
  stamps: Stamps,
  signal: AbortSignal,
): Promise<ImportTally> {
  const planner = new UpsertPlanner(stamps);
  for (const batch of drafts.batches()) {
    signal.throwIfAborted();
    planner.know((await dictionary.find(tenantId, wantedOf(batch))).map(withShortTexts));
  }
  const tally = new ImportTally();
  const faults = new RowFaults();
  let before = 0;
  for (const batch of drafts.batches()) {
    const plan = planner.plan(batch.map(withShortTexts));
    tally.add(plan);
    for (const { position, message } of plan.conflicts) {
      faults.add(before + position, lines[before + position], [{ pointer: "/id", message }]);
    }
    before += batch.length;
    await nextTurn();
  }
  faults.check(drafts.count);
  return tally;
}

/**
 * Upserts the drafts in order. Drafts that were written before a failure stay, and repeating the
 * import gives the same result as one without a failure, unless one draft names a phrase by its old
 * text and a later one renames it by its id: then the old text becomes a new phrase.
 *
 * @throws DomainError `conflict` when, after a concurrent change, a draft's id belongs to one
 * phrase and its language and text to another, `unavailable` when the change takes more than 90
 * seconds or a batch 100 attempts
 */
export async function importDrafts(
  dictionary: Pick<Dictionary, "find" | "change">,
  tenantId: string,
  drafts: PackedDrafts,
  stamps: Stamps,
  signal: AbortSignal,
): Promise<ImportTally> {
  const tally = new ImportTally();
  await dictionary.change(tenantId, async (write) => {
    for (const batch of drafts.batches()) {
      signal.throwIfAborted();
      const plan = await upsertWithRetry(dictionary, tenantId, batch, stamps, write);
      if (plan.conflicts.length > 0) {
        throw new DomainError("conflict", "the dictionary has changed during the import; it is safe to repeat");
      }
      tally.add(plan);
    }
  });
  return tally;
}

/**
 * Replaces the longest fields by a digest, which plans compare like the fields, so that a plan of
 * the whole import fits into memory.
 */
function withShortTexts<D extends PhraseDraft>(draft: D): D {
  const { commonMistakes, description } = draft;
  if (commonMistakes.length === 0 && description === "") return draft;
  const digest = hash("sha256", JSON.stringify([description, commonMistakes]), "base64");
  return { ...draft, commonMistakes: [], description: digest };
}

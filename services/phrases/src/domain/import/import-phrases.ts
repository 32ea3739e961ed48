import { DomainError } from "@vidimus/kit/errors";
import type { PhraseDraft } from "../phrase.ts";
import { planUpserts, type Stamps } from "../plan-upserts.ts";
import { settle } from "../settle.ts";
import { type Dictionary, wantedOf } from "../dictionary.ts";
import type { ImportRows } from "./import-rows.ts";
import { refuseRows } from "./parse-import.ts";

/** Rows that are read and written at once. */
const rowsPerBatch = 1_000;

/** Throws `invalid`, naming the rows, when the id of one belongs to one phrase and its text to another. */
export async function refuseConflicts(
  dictionary: Pick<Dictionary, "find">,
  tenantId: string,
  text: ImportRows,
  drafts: readonly PhraseDraft[],
  stamps: Stamps,
): Promise<void> {
  // Without an id a draft finds its phrase by its key, whatever the dictionary holds.
  if (drafts.every(({ id }) => id === undefined)) return;
  const standing = new Map<string, Awaited<ReturnType<Dictionary["find"]>>[number]>();
  for (const batch of batchesOf(drafts)) {
    for (const phrase of await dictionary.find(tenantId, wantedOf(batch))) standing.set(phrase.id, phrase);
  }
  const { conflicts } = planUpserts(drafts, [...standing.values()], stamps);
  refuseRows(
    text,
    conflicts.map(({ position, message }) => ({ position, violations: [{ pointer: "/id", message }] })),
  );
}

/**
 * Upserts the drafts in their order. What was written stays when a later one fails; done again, the import ends where it
 * would have ended.
 *
 * @throws DomainError `conflict` when somebody else's change has meanwhile given the text of a draft to another phrase
 */
export async function importPhrases(
  dictionary: Pick<Dictionary, "find" | "change">,
  tenantId: string,
  drafts: readonly PhraseDraft[],
  stamps: Stamps,
  signal: AbortSignal,
): Promise<void> {
  await dictionary.change(tenantId, async (write) => {
    for (const batch of batchesOf(drafts)) {
      signal.throwIfAborted();
      const { conflicts } = await settle(dictionary, tenantId, batch, stamps, write);
      if (conflicts.length === 0) continue;
      throw new DomainError("conflict", "the dictionary has changed during the import; it is safe to repeat");
    }
  });
}

function batchesOf(drafts: readonly PhraseDraft[]): PhraseDraft[][] {
  const count = Math.ceil(drafts.length / rowsPerBatch);
  return Array.from({ length: count }, (_, at) => drafts.slice(at * rowsPerBatch, (at + 1) * rowsPerBatch));
}

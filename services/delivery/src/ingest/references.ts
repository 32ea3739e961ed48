import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  SnapshotReference,
  SnapshotReferenceSchema,
} from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { type Reference, webhookIdOf } from "../domain/payload.ts";

export function fromReference({ tenantId, documentId, sequence }: SnapshotReference): Reference {
  return { tenantId, documentId, sequence: Number(sequence) };
}

export function toReference({
  tenantId,
  documentId,
  sequence,
}: Reference): MessageInitShape<typeof SnapshotReferenceSchema> {
  return { tenantId, documentId, sequence: BigInt(sequence) };
}

/**
 * Adds the older snapshots of the same documents that are not stored yet, and puts older before newer. References
 * arrive out of order (a batch that failed and came back, two relays); stored in that order they would go out so.
 *
 * @param stored which of these webhook ids are stored
 */
export async function withPredecessors(
  references: readonly Reference[],
  stored: (webhookIds: readonly string[]) => Promise<Set<string>>,
): Promise<Reference[]> {
  const wanted = new Map(references.map((reference) => [webhookIdOf(reference), reference]));
  let newest = [...wanted.values()];
  while (newest.length > 0) {
    const before = new Map(
      newest
        .filter(({ sequence }) => sequence > 1)
        .map(({ tenantId, documentId, sequence }) => ({ tenantId, documentId, sequence: sequence - 1 }))
        .map((reference) => [webhookIdOf(reference), reference] as const)
        .filter(([webhookId]) => !wanted.has(webhookId)),
    );
    const known = before.size > 0 ? await stored([...before.keys()]) : new Set<string>();
    newest = [];
    for (const [webhookId, reference] of before) {
      if (known.has(webhookId)) continue;
      wanted.set(webhookId, reference);
      newest.push(reference);
    }
  }
  return [...wanted.values()].sort((a, b) => a.sequence - b.sequence);
}

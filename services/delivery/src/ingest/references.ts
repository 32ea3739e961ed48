import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type SnapshotReference,
  type SnapshotReferenceSchema,
  SnapshotReferencesSchema,
} from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, tenantIdPattern } from "@vidimus/kit/ids";
import { type Reference, webhookIdOf } from "../domain/payload.ts";

export function referenceFromProto({ tenantId, documentId, sequence }: SnapshotReference): Reference {
  return { tenantId, documentId, sequence: Number(sequence) };
}

/** Most references in one message: a transaction of documents has as many. */
const referencesMax = 64;
/**
 * A tenant id of 32, a UUID of 36, a number of 8 and a type name of 97 bytes take 180 with their
 * tags.
 */
const messageBytesMax = referencesMax * 192;

/**
 * Reads the references of a message of the broker. It checks everything, because any process in the
 * cluster can send one.
 *
 * @throws DomainError `invalid` when no transaction can have announced these references; RangeError
 * when the bytes are not references
 */
export function parseReferences(data: Uint8Array): Reference[] {
  if (data.byteLength > messageBytesMax) throw invalid(`comes in a message of ${data.byteLength} bytes`);
  const { references } = fromBinary(SnapshotReferencesSchema, data);
  if (references.length === 0 || references.length > referencesMax) {
    throw invalid(`comes in a message of ${references.length}`);
  }
  return references.map(checkReference);
}

function checkReference({ tenantId, documentId, sequence }: SnapshotReference): Reference {
  if (!tenantIdPattern.test(tenantId)) throw invalid("names a tenant that cannot be");
  if (parseUuid(documentId) !== documentId) throw invalid("names a document that cannot be");
  if (sequence < 1n || sequence > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid(`has the sequence ${sequence}`);
  return { tenantId, documentId, sequence: Number(sequence) };
}

function invalid(fault: string): DomainError {
  return new DomainError("invalid", `a snapshot reference ${fault}`);
}

export function referenceToProto({
  tenantId,
  documentId,
  sequence,
}: Reference): MessageInitShape<typeof SnapshotReferenceSchema> {
  return { tenantId, documentId, sequence: BigInt(sequence) };
}

/**
 * How many predecessors of a reference are looked for, with one query each. Without a bound a
 * forged reference to sequence 2^53 would delay all tenants' snapshots for ever.
 */
const predecessorsMax = 256;

/**
 * Adds the older snapshots of the same documents that are not stored yet, and sorts older before
 * newer. References arrive out of order after a failed batch, or from two processes of documents,
 * and deliveries are attempted in the order in which they were stored. A reference with more
 * unknown predecessors than the bound is left out; the reconciler ingests it, because its walk
 * begins with the oldest.
 *
 * @param stored returns which of these webhook ids are stored
 */
export async function withPredecessors(
  references: readonly Reference[],
  stored: (webhookIds: readonly string[]) => Promise<Set<string>>,
): Promise<Reference[]> {
  const wanted = new Map(references.map((reference) => [webhookIdOf(reference), reference]));
  let newest = [...wanted.values()];
  for (let step = 0; newest.length > 0; step++) {
    if (step === predecessorsMax) return older(wanted.values(), newest);
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
  return older(wanted.values(), []);
}

/** The references that are older than their document's end, if it has one, sorted by sequence. */
function older(references: Iterable<Reference>, ends: readonly Reference[]): Reference[] {
  const endOf = new Map(ends.map((end) => [documentOf(end), end.sequence]));
  return [...references]
    .filter((reference) => reference.sequence < (endOf.get(documentOf(reference)) ?? Number.POSITIVE_INFINITY))
    .sort((a, b) => a.sequence - b.sequence);
}

function documentOf({ tenantId, documentId }: Reference): string {
  return `${tenantId}\n${documentId}`;
}

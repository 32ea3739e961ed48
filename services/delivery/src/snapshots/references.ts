import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type SnapshotReference,
  type SnapshotReferenceSchema,
  SnapshotReferencesSchema,
} from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { DomainError } from "@vidimus/kit/errors";
import { parseTraceparent } from "@vidimus/kit/rpc/context/call-context";
import { parseUuid, tenantIdPattern } from "@vidimus/kit/ids";
import type { Reference } from "../domain/payload.ts";

export function referenceFromProto({ tenantId, documentId, sequence }: SnapshotReference): Reference {
  return { tenantId, documentId, sequence: Number(sequence) };
}

/**
 * Most references in one message, because a transaction of documents makes at most 64 snapshots.
 */
const referencesMax = 64;
/**
 * A tenant id of 32, a UUID of 36, a number of 8, a type name of 97 and a traceparent of 55 bytes
 * take 240 with all tags and lengths; 8 are spare.
 */
const messageBytesMax = referencesMax * 248;

/**
 * Reads the references of a broker message. They are checked, because a broker without permissions
 * takes messages from every process.
 *
 * @throws DomainError `invalid` when no transaction can have announced these references; Error when
 * the bytes are not references
 */
export function parseReferences(data: Uint8Array): Reference[] {
  if (data.byteLength > messageBytesMax) throw invalid(`comes in a message of ${data.byteLength} bytes`);
  const { references } = fromBinary(SnapshotReferencesSchema, data);
  if (references.length === 0 || references.length > referencesMax) {
    throw invalid(`comes in a message of ${references.length}`);
  }
  return references.map(checkReference);
}

function checkReference({ tenantId, documentId, sequence, traceparent }: SnapshotReference): Reference {
  if (!tenantIdPattern.test(tenantId)) throw invalid("names a tenant that cannot be");
  if (parseUuid(documentId) !== documentId) throw invalid("names a document that cannot be");
  if (sequence < 1n || sequence > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid(`has the sequence ${sequence}`);
  return { tenantId, documentId, sequence: Number(sequence), traceparent: parseTraceparent(traceparent) };
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

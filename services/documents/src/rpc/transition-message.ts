import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Transition } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import type { Actor } from "../domain/document/document.ts";
import { requireDocumentId } from "../domain/document/require-ids.ts";
import type { Move, Moved } from "../domain/publication/move-documents.ts";

/** Reads a requested step; throws `invalid` when it lacks a document, a name or a version. */
export function fromTransition(transition: Transition | undefined, by: Actor): Move {
  const { documentId = "", name = "", expectedVersion = 0n } = transition ?? {};
  const id = requireDocumentId(documentId);
  if (name === "") throw new DomainError("invalid", "name must name a transition");
  if (expectedVersion < 1n || expectedVersion > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new DomainError("invalid", "expected_version must be the version you saw");
  }
  return { documentId: id, name, expectedVersion: Number(expectedVersion), by };
}

/** Where a document stands after its step, as a message. */
export function toMoved({ documentId, version, status, sequence, updatedAt }: Moved) {
  return {
    documentId,
    version: BigInt(version),
    status,
    sequence: BigInt(sequence),
    ...(updatedAt ? { updatedAt: timestampFromDate(updatedAt) } : {}),
  };
}

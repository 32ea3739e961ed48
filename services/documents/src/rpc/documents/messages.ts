import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  CreateDocumentRequest,
  DocumentSchema,
  LastPublishedSchema,
  Transition,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { assembleDocument } from "../../domain/document/assemble-document.ts";
import type { Actor, Head, LastPublished } from "../../domain/document/document.ts";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import type { VersionSummary } from "../../domain/document/revision.ts";
import type { IntakeItem } from "../../domain/intake/take-in.ts";
import type { DocumentTransition, Transitioned } from "../../domain/transitions/transition-documents.ts";

/** Reads a create request of the actor `by`; throws `invalid` when it names another. */
export function fromCreateRequest(request: CreateDocumentRequest, by: Actor): IntakeItem {
  if (request.createdBy) throw new DomainError("invalid", "created_by is for the gateway; metadata names the actor");
  return fromGatewayItem(request, by);
}

/**
 * Reads an item of the gateway, which names its own actor. The actor of `by` is for gateways of an
 * earlier release, whose batches have one actor, in the metadata.
 */
export function fromGatewayItem({ tenantId, draft, createdBy }: CreateDocumentRequest, by: Actor): IntakeItem {
  const { actor, role } = createdBy ?? by;
  return {
    tenantId,
    json: draft?.documentJson ?? new Uint8Array(),
    intakeToken: draft?.intakeToken ?? "",
    createdBy: { ...by, actor, role },
  };
}

/** Reads a requested transition; throws `invalid` when it lacks a document, a name or a version. */
export function fromTransition(transition: Transition | undefined, by: Actor): DocumentTransition {
  const { documentId = "", name = "", expectedVersion = 0n } = transition ?? {};
  const id = requireDocumentId(documentId);
  if (name === "") throw new DomainError("invalid", "name must name a transition");
  if (expectedVersion < 1n || expectedVersion > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new DomainError("invalid", "expected_version must be the version you saw");
  }
  return { documentId: id, name, expectedVersion: Number(expectedVersion), by };
}

/** A document's state after a transition, as a message. */
export function toTransitioned({ documentId, version, status, sequence, updatedAt }: Transitioned) {
  return {
    documentId,
    version: BigInt(version),
    status,
    sequence: BigInt(sequence),
    ...(updatedAt ? { updatedAt: timestampFromDate(updatedAt) } : {}),
  };
}

/** A head as a message. */
export function toDocument(head: Head): MessageInitShape<typeof DocumentSchema> {
  const { documentId, type, version, status, lastPublished } = head;
  return {
    documentId,
    type,
    version: BigInt(version),
    status,
    documentJson: assembleDocument(head, { documentId, type, status, version }).bytes,
    ...(lastPublished ? { lastPublished: toLastPublished(lastPublished) } : {}),
    workflowId: head.workflowId,
    workflowVersion: head.workflowVersion,
    createdAt: timestampFromDate(head.createdAt),
    changedAt: timestampFromDate(head.changedAt),
  };
}

/** The last published version as a message. */
export function toLastPublished(last: LastPublished): MessageInitShape<typeof LastPublishedSchema> {
  return {
    version: BigInt(last.version),
    status: last.status,
    sequence: BigInt(last.sequence),
    updatedAt: timestampFromDate(last.updatedAt),
  };
}

/** A version without its content, as a message. */
export function toDocumentVersion({ version, status, title, schemaGeneration, writtenAt, writtenBy }: VersionSummary) {
  return {
    version: BigInt(version),
    status,
    title,
    schemaGeneration,
    writtenAt: timestampFromDate(writtenAt),
    writtenBy: { ...writtenBy },
  };
}

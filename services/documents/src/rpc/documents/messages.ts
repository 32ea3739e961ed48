import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  CreateDocumentRequest,
  DocumentSchema,
  Draft,
  LastPublishedSchema,
  Transition,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { assembleForEditors } from "../../domain/document/assemble-document.ts";
import type { Actor, Head, LastPublished } from "../../domain/document/document.ts";
import { readRequestToken } from "../../domain/document/request-token.ts";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import { throwMissing } from "../../domain/document/throw-missing.ts";
import type { VersionSummary } from "../../domain/document/revision.ts";
import type { IntakeItem } from "../../domain/intake/take-in.ts";
import type { TransitionRequest, TransitionResult } from "../../domain/transitions/attempt.ts";
import { requireVersionNumber } from "../requests.ts";

/** Reads a create request of the actor `by`. Throws `invalid` when `created_by` is set. */
export function fromCreateRequest({ tenantId, draft, createdBy }: CreateDocumentRequest, by: Actor): IntakeItem {
  if (createdBy) throw new DomainError("invalid", "created_by is for the gateway; metadata names the actor");
  return { tenantId, ...fromDraft(draft), createdBy: by };
}

/**
 * A missing draft becomes empty JSON, which `takeIn` refuses for its item alone. So the other items
 * of the batch are created.
 */
export function fromDraft(draft: Draft | undefined): Pick<IntakeItem, "json" | "intakeToken"> {
  return { json: draft?.documentJson ?? new Uint8Array(), intakeToken: draft?.intakeToken ?? "" };
}

/**
 * Reads an item of the gateway. The gateway names the actor of each item, because one call has
 * items of many callers. Throws `invalid` when the item names none.
 */
export function fromGatewayItem({ tenantId, draft, createdBy }: CreateDocumentRequest, by: Actor): IntakeItem {
  const { actor, role } = createdBy ?? throwMissing("created_by");
  return { tenantId, ...fromDraft(draft), createdBy: { ...by, actor, role }, isByScope: true };
}

/**
 * Throws `invalid` without a transition, document id, name or version, and for a malformed document
 * id or a request token that is too long.
 */
export function fromTransition(
  transition: Transition | undefined,
  by: Actor,
  traceparent: string | undefined,
): TransitionRequest {
  const { documentId, name, expectedVersion: version, requestToken: token } = transition ?? throwMissing("transition");
  const id = requireDocumentId(documentId);
  if (name === "") throwMissing("name");
  const expectedVersion = requireVersionNumber("expected_version", version);
  const requestToken = readRequestToken(token);
  return {
    documentId: id,
    name,
    expectedVersion,
    by,
    ...(requestToken === undefined ? {} : { requestToken }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

export function toTransitionResult({ documentId, version, status, sequence, updatedAt }: TransitionResult) {
  return {
    documentId,
    version: BigInt(version),
    status,
    sequence: BigInt(sequence),
    ...(updatedAt ? { updatedAt: timestampFromDate(updatedAt) } : {}),
  };
}

export function toDocument(head: Head): MessageInitShape<typeof DocumentSchema> {
  const { documentId, type, version, status, lastPublished } = head;
  return {
    documentId,
    type,
    version: BigInt(version),
    status,
    documentJson: assembleForEditors(head, { documentId, type, status, version }),
    ...(lastPublished ? { lastPublished: toLastPublished(lastPublished) } : {}),
    workflowId: head.workflowId,
    workflowVersion: head.workflowVersion,
    createdAt: timestampFromDate(head.createdAt),
    changedAt: timestampFromDate(head.changedAt),
  };
}

export function toLastPublished(last: LastPublished): MessageInitShape<typeof LastPublishedSchema> {
  return {
    version: BigInt(last.version),
    status: last.status,
    sequence: BigInt(last.sequence),
    updatedAt: timestampFromDate(last.updatedAt),
  };
}

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

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DocumentSchema, LiveVersionSchema } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { assembleDocument } from "../domain/document/assemble-document.ts";
import type { Head, Live } from "../domain/document/document.ts";

/** A head as its message. */
export function toDocument(head: Head): MessageInitShape<typeof DocumentSchema> {
  const { documentId, type, version, status } = head;
  return {
    documentId,
    type,
    version: BigInt(version),
    status,
    documentJson: assembleDocument(head, { documentId, type, status, version }).bytes,
    ...(head.live ? { live: toLiveVersion(head.live) } : {}),
    workflowId: head.workflowId,
    workflowVersion: head.workflowVersion,
    createdAt: timestampFromDate(head.createdAt),
    changedAt: timestampFromDate(head.changedAt),
  };
}

/** A live version as its message. */
export function toLiveVersion(live: Live): MessageInitShape<typeof LiveVersionSchema> {
  return {
    version: BigInt(live.version),
    status: live.status,
    sequence: BigInt(live.sequence),
    updatedAt: timestampFromDate(live.updatedAt),
  };
}

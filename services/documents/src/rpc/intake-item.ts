import type { CreateDocumentRequest } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import type { IntakeItem } from "../domain/intake/take-in.ts";

/** What a create request asks for. */
export function fromCreateRequest({ tenantId, draft }: CreateDocumentRequest): IntakeItem {
  return { tenantId, json: draft?.documentJson ?? new Uint8Array(), intakeToken: draft?.intakeToken ?? "" };
}

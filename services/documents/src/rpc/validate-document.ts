import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireTenantId } from "../domain/document/require-ids.ts";
import { judgeDraft } from "../domain/intake/judge-draft.ts";
import type { TypeRegistry } from "../domain/types/document-type.ts";

/** What ValidateDocument needs. */
export interface ValidateDocumentDeps {
  types: Pick<TypeRegistry, "find">;
}

/** Says what is wrong with a document, and stores nothing. */
export function validateDocument({
  types,
}: ValidateDocumentDeps): MethodImpl<typeof DocumentService.method.validateDocument> {
  return async ({ tenantId, documentJson, forPublication }) =>
    judgeDraft(types, requireTenantId(tenantId), documentJson, forPublication);
}

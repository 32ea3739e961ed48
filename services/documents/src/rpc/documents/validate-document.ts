import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { validateDraft, type ValidateDocumentDeps } from "../../domain/intake/validate-draft.ts";

export function validateDocument(
  deps: ValidateDocumentDeps,
): MethodImpl<typeof DocumentService.method.validateDocument> {
  return async ({ tenantId, documentJson, forPublication }, { signal }) =>
    validateDraft(deps, requireTenantId(tenantId), documentJson, { forPublication, signal });
}

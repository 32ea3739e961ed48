import type { MethodImpl } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "../domain/document/require-ids.ts";
import type { DocumentDeps } from "../domain/publication/read-document.ts";
import { readDocuments } from "../domain/publication/read-documents.ts";
import { fromBy } from "./get-published-document.ts";
import { refused } from "./refused.ts";

const itemsMax = 64;

/** Many published documents, each found or refused alone. */
export function batchGetPublishedDocuments(
  deps: DocumentDeps,
): MethodImpl<typeof PublishedDocumentService.method.batchGetPublishedDocuments> {
  return async ({ items }, { signal }) => {
    if (items.length === 0 || items.length > itemsMax) {
      throw new DomainError("invalid", `a batch has 1 to ${itemsMax} items, this one ${items.length}`);
    }
    const questions = items.map(({ tenantId, by, includeLinks, ifNoneMatch }) => ({
      tenantId: requireTenantId(tenantId),
      name: fromBy(by),
      includeLinks,
      ifNoneMatch,
    }));
    const answers = await readDocuments(deps, questions, signal);
    return {
      results: answers.map((answer) =>
        answer instanceof DomainError ? refused(answer) : { outcome: { case: "found" as const, value: answer } },
      ),
    };
  };
}

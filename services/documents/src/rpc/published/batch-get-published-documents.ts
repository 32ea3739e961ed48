import type { MethodImpl } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import { type BatchGetPublishedDocumentsDeps, readDocuments } from "../../domain/published-reads/read-documents.ts";
import { fromBy } from "./get-published-document.ts";
import { refused } from "../refused.ts";
import { requireBatch } from "../requests.ts";

export function batchGetPublishedDocuments(
  deps: BatchGetPublishedDocumentsDeps,
): MethodImpl<typeof PublishedDocumentService.method.batchGetPublishedDocuments> {
  return async ({ items }, { signal }) => {
    requireBatch(items);
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

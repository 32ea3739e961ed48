import type { MethodImpl } from "@connectrpc/connect";
import type {
  ListPublishedDocumentsRequest,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { type ListPublishedDocumentsDeps, currentEtag } from "../../domain/published-reads/read-published-page.ts";
import { fromListRequest } from "./list-published-documents.ts";
import { requireBatch } from "../requests.ts";

/** A page's current tag follows from the request and the tenant's clock, so no page is read. */
type RevalidatePublishedPagesDeps = Pick<ListPublishedDocumentsDeps, "clocks">;

/** Answers for each page: its current tag when the caller has this tag, else "". */
export function revalidatePublishedPages(
  deps: RevalidatePublishedPagesDeps,
): MethodImpl<typeof PublishedDocumentService.method.revalidatePublishedPages> {
  return async ({ pages }) => {
    requireBatch(pages);
    return { etags: await Promise.all(pages.map((page) => revalidate(deps, page))) };
  };
}

/**
 * An invalid request gets "": the caller gets the error when it asks for the page, and the rest of
 * the batch is answered.
 */
async function revalidate(deps: RevalidatePublishedPagesDeps, request: ListPublishedDocumentsRequest): Promise<string> {
  try {
    const { tenantId, page } = fromListRequest(request);
    return (await currentEtag(deps, tenantId, page)) ?? "";
  } catch (error) {
    if (error instanceof DomainError && error.kind === "invalid") return "";
    throw error;
  }
}

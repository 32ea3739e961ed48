import type { MethodImpl } from "@connectrpc/connect";
import type {
  ListPublishedDocumentsRequest,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { type PageDeps, standingEtag } from "../domain/publication/published-page.ts";
import { fromListRequest } from "./list-published-documents.ts";
import { requireBatch } from "./require-batch.ts";

type Deps = Pick<PageDeps, "stamp">;

/** Says of many pages whether they still stand, without reading one. */
export function revalidatePublishedPages(
  deps: Deps,
): MethodImpl<typeof PublishedDocumentService.method.revalidatePublishedPages> {
  return async ({ pages }) => {
    requireBatch(pages);
    return { etags: await Promise.all(pages.map((page) => revalidate(deps, page))) };
  };
}

/** What is wrong with a request is said where its page is asked for: here it would fail everybody's. */
async function revalidate(deps: Deps, request: ListPublishedDocumentsRequest): Promise<string> {
  try {
    const { tenantId, page } = fromListRequest(request);
    return (await standingEtag(deps, tenantId, page)) ?? "";
  } catch (error) {
    if (error instanceof DomainError && error.kind === "invalid") return "";
    throw error;
  }
}

import type { MethodImpl } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import { isPublishableType } from "../../domain/published-reads/publishable-types.ts";
import { type ListPublishedChangesDeps, readChanges } from "../../domain/published-reads/read-changes.ts";
import { pageSize, documentPages } from "../requests.ts";

const waitMsMax = 20_000;

export function listPublishedChanges(
  deps: ListPublishedChangesDeps,
): MethodImpl<typeof PublishedDocumentService.method.listPublishedChanges> {
  return async ({ tenantId, since, type, limit: requested, waitMs }, { signal }) => {
    if (type !== "" && !isPublishableType(type)) throw new DomainError("invalid", "type is not a publishable one");
    const limit = pageSize(requested, documentPages);
    if (waitMs > waitMsMax) throw new DomainError("invalid", `wait_ms must be at most ${waitMsMax}`);
    const {
      itemsJson,
      since: next,
      hasMore,
    } = await readChanges(deps, requireTenantId(tenantId), { since, type, limit, waitMs }, signal);
    return { itemsJson, since: next, hasMore };
  };
}

import type { MethodImpl } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "../domain/document/require-ids.ts";
import { isPublishableType } from "../domain/publication/publishable-types.ts";
import { type ChangeDeps, readChanges } from "../domain/publication/read-changes.ts";

const limitMax = 200;
const waitMsMax = 20_000;

/** What was published and withdrawn since a token, oldest first. */
export function listPublishedChanges(
  deps: ChangeDeps,
): MethodImpl<typeof PublishedDocumentService.method.listPublishedChanges> {
  return async ({ tenantId, since, type, limit, waitMs }, { signal }) => {
    if (type !== "" && !isPublishableType(type)) throw new DomainError("invalid", "type is not a publishable one");
    if (limit < 1 || limit > limitMax) throw new DomainError("invalid", `limit must be from 1 to ${limitMax}`);
    if (waitMs > waitMsMax) throw new DomainError("invalid", `wait_ms must be at most ${waitMsMax}`);
    const {
      itemsJson,
      since: next,
      hasMore,
    } = await readChanges(deps, requireTenantId(tenantId), { since, type, limit, waitMs }, signal);
    return { itemsJson, since: next, hasMore };
  };
}

import type { MethodImpl } from "@connectrpc/connect";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DocumentOrder,
  type DocumentService,
  type ListDocumentsRequest,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import { encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import type { HeadSummary, ListOrder, ListPosition } from "../../domain/document/document.ts";
import type { TypeRegistry } from "../../domain/types/document-type.ts";
import type { WorkflowRegistry } from "../../domain/workflow/workflow-registry.ts";
import type { HeadStore, ListFilter } from "../../store/head-store.ts";
import { documentPages, pagePosition, pageSize } from "../requests.ts";
import { toLastPublished } from "./messages.ts";

export interface ListDocumentsDeps {
  documents: Pick<HeadStore, "list" | "count">;
  types: Pick<TypeRegistry, "has">;
  states: Pick<WorkflowRegistry, "hasState">;
}

/** Lists a tenant's documents in the requested order: last changed first, or last created first. */
export function listDocuments(deps: ListDocumentsDeps): MethodImpl<typeof DocumentService.method.listDocuments> {
  return async (request, { signal }) => {
    const tenantId = requireTenantId(request.tenantId);
    const limit = pageSize(request.limit, documentPages);
    const order = readOrder(request.order);
    const after = pagePosition(request.pageToken, (values) => toPosition(values, order));
    const filter = await readFilter(deps, tenantId, request);
    const query = { ...filter, order, ...(after ? { after } : {}), limit: limit + 1, signal };
    const found = await deps.documents.list(tenantId, query);
    const count = request.count ? { count: await deps.documents.count(tenantId, filter, signal) } : {};
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const nextPageToken = found.length > limit && last ? tokenOf(last, order) : "";
    return { documents: page.map(toSummary), nextPageToken, ...count };
  };
}

async function readFilter(
  { types, states }: ListDocumentsDeps,
  tenantId: string,
  { type, status, actor, changedSince }: ListDocumentsRequest,
): Promise<ListFilter> {
  if (type !== "" && !(await types.has(tenantId, type))) {
    const message = `type "${type.slice(0, 128)}" is not one of this tenant's: SchemaService lists them`;
    throw new DomainError("invalid", message, { reason: "unknown_type" });
  }
  if (status !== "" && !(await states.hasState(tenantId, status))) {
    const message = `status "${status.slice(0, 128)}" is no state of this tenant's workflows: WorkflowService lists them`;
    throw new DomainError("invalid", message, { reason: "unknown_status" });
  }
  return {
    ...(type === "" ? {} : { type }),
    ...(status === "" ? {} : { status }),
    ...(actor === "" ? {} : { actor }),
    ...(changedSince ? { changedSince: toDate(changedSince) } : {}),
  };
}

/**
 * Rows have whole milliseconds. The time is rounded up, so that "at this time or later" stays
 * exact.
 */
function toDate({ seconds, nanos }: Timestamp): Date {
  const date = new Date(Number(seconds) * 1_000 + Math.ceil(nanos / 1e6));
  if (!Number.isNaN(date.getTime())) return date;
  throw new DomainError("invalid", "changed_since must be a time of the years 1 to 9999");
}

function readOrder(order: DocumentOrder): ListOrder {
  switch (order) {
    case DocumentOrder.UNSPECIFIED:
    case DocumentOrder.CHANGED:
      return "changed";
    case DocumentOrder.CREATED:
      return "created";
    default:
      throw new DomainError("invalid", "order must be DOCUMENT_ORDER_CHANGED or DOCUMENT_ORDER_CREATED");
  }
}

function tokenOf(head: HeadSummary, order: ListOrder): string {
  return encodeOpaqueToken([order, head[`${order}At`].getTime(), head.documentId]);
}

function toPosition(values: readonly (string | number)[], order: ListOrder): ListPosition | undefined {
  const [named, time, id, ...more] = values;
  const documentId = typeof id === "string" ? parseUuid(id) : undefined;
  if (documentId === undefined || !isEpochMs(time) || named !== order || more.length > 0) return undefined;
  return { at: new Date(time), documentId };
}

function toSummary({ version, lastPublished, createdAt, changedAt, ...head }: HeadSummary) {
  return {
    ...head,
    version: BigInt(version),
    ...(lastPublished ? { lastPublished: toLastPublished(lastPublished) } : {}),
    createdAt: timestampFromDate(createdAt),
    changedAt: timestampFromDate(changedAt),
  };
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import type { AuditEntrySchema } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import { requireAdministrator } from "../administrator.ts";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import { encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { pagePosition, pageSize } from "@vidimus/kit/page-request";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import type { AuditEntry } from "./audit-entry.ts";
import type { AuditLog } from "./audit-log.ts";

/** `ListAuditEntriesRequest`, of which each service with an audit log has its own message. */
interface AuditRequest {
  /** Absent where changes concern the whole platform. */
  readonly tenantId?: string;
  readonly actor: string;
  readonly actions: readonly string[];
  readonly since?: Timestamp | undefined;
  readonly until?: Timestamp | undefined;
  readonly limit: number;
  readonly pageToken: string;
}

export interface ListAuditEntriesDeps {
  audit: Pick<AuditLog, "list">;
}

export function listAuditEntries({ audit }: ListAuditEntriesDeps) {
  return async (request: AuditRequest, context: HandlerContext) => {
    requireAdministrator(callContext(context), "read who changed what");
    const { actor, actions, since, until } = request;
    const limit = pageSize(request.limit);
    const after = pagePosition(request.pageToken, readPosition);
    const query = {
      tenantId: request.tenantId === undefined ? "" : requireTenantId(request.tenantId),
      actions,
      limit: limit + 1,
      ...(actor === "" ? {} : { actor }),
      ...(since ? { since: timestampDate(since) } : {}),
      ...(until ? { until: timestampDate(until) } : {}),
      ...(after === undefined ? {} : { after }),
    };
    const found = await audit.list(query, context.signal);
    const entries = found.slice(0, limit);
    const last = found.length > limit ? entries.at(-1) : undefined;
    return { entries: entries.map(toProto), nextPageToken: last ? encodeOpaqueToken([last.entryId]) : "" };
  };
}

function toProto({ from, at, detail, ...entry }: AuditEntry): MessageInitShape<typeof AuditEntrySchema> {
  return { ...entry, at: timestampFromDate(at), fromAddress: from, detailJson: Buffer.from(JSON.stringify(detail)) };
}

/** The console makes the same tokens to merge the logs of services: change both together. */
function readPosition([entryId]: readonly (string | number)[]): string | undefined {
  return typeof entryId === "string" ? parseUuid(entryId) : undefined;
}

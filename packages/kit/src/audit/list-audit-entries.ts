import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import type { AuditEntrySchema } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import { requireAdministrator } from "../administrator.ts";
import { DomainError } from "../errors.ts";
import { parseUuid, requireTenantId } from "../ids.ts";
import { decodeOpaqueToken, encodeOpaqueToken } from "../opaque-token.ts";
import { callContext } from "../rpc/call-context.ts";
import type { AuditEntry } from "./audit-entry.ts";
import type { AuditLog } from "./audit-log.ts";

/** `ListAuditEntriesRequest`, which every service declares for itself. */
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

const [limitDefault, limitMax] = [50, 200];

/** Implements `ListAuditEntries` of every service that has it. */
export function listAuditEntries({ audit }: ListAuditEntriesDeps) {
  return async (request: AuditRequest, context: HandlerContext) => {
    requireAdministrator(callContext(context), "read who changed what");
    const { actor, actions, since, until } = request;
    const limit = pageSize(request.limit);
    const after = readToken(request.pageToken);
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

function pageSize(limit: number): number {
  if (limit <= limitMax) return limit === 0 ? limitDefault : limit;
  throw invalid("/limit", `must be from 1 to ${limitMax}, or 0 for ${limitDefault}`);
}

function readToken(token: string): string | undefined {
  if (token === "") return undefined;
  const [entryId] = decodeOpaqueToken(token) ?? [];
  const after = typeof entryId === "string" ? parseUuid(entryId) : undefined;
  if (after !== undefined) return after;
  throw invalid("/pageToken", "must be one that an earlier page gave");
}

function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}

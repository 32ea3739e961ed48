import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { AuditEntry } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import type { TenantCall } from "../../http/route.ts";
import type { AccessCalls, EndpointCalls, SchemaCalls } from "../../rpc/called-methods.ts";
import { partOf } from "../parts/service-down.ts";
import type { AuditedService } from "./audit-kinds.ts";
import { type AuditPosition, type AuditQuery, requestFor, servicesFor } from "./audit-query.ts";

export interface LoadAuditDeps {
  readonly access: Pick<AccessCalls, "listAuditEntries">;
  readonly endpoints: Pick<EndpointCalls, "listAuditEntries">;
  readonly schemas: Pick<SchemaCalls, "listAuditEntries">;
}

/** A page of the merged logs. */
export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** Services that do not answer, whose entries are missing. */
  readonly down: readonly string[];
  /** Position of the next page; undefined on the last one. */
  readonly next: AuditPosition | undefined;
}

const rowsMax = 50;

/** Reads the logs of all matching services at the same time, and merges them. */
export async function loadAudit(deps: LoadAuditDeps, query: AuditQuery, call: TenantCall): Promise<AuditPage> {
  const request = { tenantId: call.tenant.tenantId, ...requestFor(query, rowsMax) };
  const readers: Readonly<Record<AuditedService, () => Promise<{ readonly entries: readonly AuditEntry[] }>>> = {
    access: () => deps.access.listAuditEntries(request, call.rpc),
    delivery: () => deps.endpoints.listAuditEntries(request, call.rpc),
    documents: () => deps.schemas.listAuditEntries(request, call.rpc),
  };
  const parts = await Promise.all(servicesFor(query).map((service) => partOf(call, service, readers[service]())));
  const seen = new Set(query.position?.shown);
  const found = parts
    .flatMap((part) => ("value" in part ? part.value.entries : []))
    .filter(({ entryId }) => !seen.has(entryId))
    .toSorted((a, b) => timeOf(b) - timeOf(a) || (a.entryId < b.entryId ? 1 : -1));
  const entries = found.slice(0, rowsMax);
  return {
    entries,
    down: parts.flatMap((part) => ("down" in part ? [part.down] : [])),
    next: found.length > rowsMax ? positionAfter(entries, query.position) : undefined,
  };
}

function positionAfter(entries: readonly AuditEntry[], before: AuditPosition | undefined): AuditPosition | undefined {
  const last = entries.at(-1);
  if (!last) return undefined;
  const at = timeOf(last);
  const earlier = before?.at.getTime() === at ? before.shown : [];
  const shown = [...earlier, ...entries.filter((entry) => timeOf(entry) === at).map(({ entryId }) => entryId)];
  return { at: new Date(at), shown, first: (before?.first ?? 1) + entries.length };
}

function timeOf({ at }: AuditEntry): number {
  return at ? timestampDate(at).getTime() : 0;
}

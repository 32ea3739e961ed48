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

/**
 * Reads the logs of all matching services at the same time, and merges them by the ids of entries.
 */
export async function loadAudit(deps: LoadAuditDeps, query: AuditQuery, call: TenantCall): Promise<AuditPage> {
  const request = { tenantId: call.tenant.tenantId, ...requestFor(query, rowsMax) };
  const readers: Readonly<Record<AuditedService, () => Promise<{ readonly entries: readonly AuditEntry[] }>>> = {
    access: () => deps.access.listAuditEntries(request, call.rpc),
    delivery: () => deps.endpoints.listAuditEntries(request, call.rpc),
    documents: () => deps.schemas.listAuditEntries(request, call.rpc),
  };
  const parts = await Promise.all(servicesFor(query).map((service) => partOf(call, service, readers[service]())));
  const found = parts
    .flatMap((part) => ("value" in part ? part.value.entries : []))
    .toSorted((a, b) => (a.entryId < b.entryId ? 1 : -1));
  const entries = found.slice(0, rowsMax);
  const last = found.length > rowsMax ? entries.at(-1) : undefined;
  return {
    entries,
    down: parts.flatMap((part) => ("down" in part ? [part.down] : [])),
    next: last && { after: last.entryId, first: (query.position?.first ?? 1) + entries.length },
  };
}

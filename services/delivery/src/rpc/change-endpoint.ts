import type { AuditAuthor } from "@vidimus/kit/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import { requireOpened } from "../domain/change-endpoint.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import type { EndpointDirectory } from "../lanes/endpoint-directory.ts";
import type { AuditedEndpoints } from "../store/audited-endpoints.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";

export interface ChangeEndpointDeps {
  endpoints: Pick<EndpointStore, "find">;
  audited: Pick<AuditedEndpoints, "replace">;
  directory: Pick<EndpointDirectory, "forget">;
}

/** A change that an audit tells of. */
interface AuditedAct {
  /** Such as `update_endpoint`. */
  readonly action: string;
  readonly by: AuditAuthor;
}

/** How a request names an endpoint. */
export interface EndpointName {
  readonly tenantId: string;
  readonly endpointId: string;
}

/** Tries of a change that others overtake. */
const triesMax = 5;

/** @throws DomainError `not_found` when the tenant has no such endpoint */
export async function requireEndpoint(
  endpoints: Pick<EndpointStore, "find">,
  name: EndpointName,
  signal?: AbortSignal,
): Promise<ManagedEndpoint> {
  const tenantId = requireTenantId(name.tenantId);
  const endpointId = parseUuid(name.endpointId);
  const found = endpointId === undefined ? undefined : await endpoints.find(tenantId, endpointId, signal);
  if (!found) throw new DomainError("not_found", "there is no such endpoint");
  return found;
}

/**
 * Reads an endpoint, changes it and stores it; again when others have changed it meanwhile. A change
 * that returns the endpoint itself stores nothing.
 *
 * @throws DomainError `not_found`, `conflict`, and what `change` throws
 */
export async function changeEndpoint(
  { endpoints, audited, directory }: ChangeEndpointDeps,
  { action, by }: AuditedAct,
  name: EndpointName,
  change: (endpoint: ManagedEndpoint, now: Date) => ManagedEndpoint,
): Promise<ManagedEndpoint> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const read = await requireEndpoint(endpoints, name);
    const now = new Date();
    const changed = change(read, now);
    requireOpened(changed);
    if (changed === read) return read;
    const stored = { ...changed, updatedAt: now };
    if (await audited.replace(read, stored, action, by)) {
      directory.forget(stored.endpointId);
      return stored;
    }
  }
  throw new DomainError("conflict", "others change this endpoint at the same time; try again");
}

import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import { requireOpened } from "../domain/change-endpoint.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import type { EndpointKey } from "../domain/endpoint-key.ts";
import { overtaken, unlessOvertaken } from "../domain/unless-overtaken.ts";
import type { EndpointDirectory } from "../lanes/endpoint-directory.ts";
import type { AuditedEndpoints } from "../store/audited-endpoints.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";

export interface ChangeEndpointDeps {
  endpoints: Pick<EndpointStore, "find">;
  audited: Pick<AuditedEndpoints, "replace">;
  directory: Pick<EndpointDirectory, "forget">;
}

interface AuditedAct {
  /** For example `update_endpoint`. */
  readonly action: string;
  readonly by: AuditAuthor;
}

/**
 * @throws DomainError `not_found` when the tenant has no such endpoint; `invalid` for a malformed
 * tenant id
 */
export async function requireEndpoint(
  endpoints: Pick<EndpointStore, "find">,
  key: EndpointKey,
  signal?: AbortSignal,
): Promise<ManagedEndpoint> {
  const tenantId = requireTenantId(key.tenantId);
  const endpointId = parseUuid(key.endpointId);
  const found = endpointId === undefined ? undefined : await endpoints.find(tenantId, endpointId, signal);
  if (!found) throw new DomainError("not_found", "there is no such endpoint");
  return found;
}

/**
 * Reads an endpoint, changes it and stores it. Starts again when somebody else has changed the
 * endpoint meanwhile. A change that returns the same object stores nothing.
 *
 * @throws DomainError as `requireEndpoint`; `conflict` when others changed the endpoint during each
 * of several tries; `failed_precondition` when the changed endpoint still cannot be opened; errors
 * of `change`
 */
export async function changeEndpoint(
  { endpoints, audited, directory }: ChangeEndpointDeps,
  { action, by }: AuditedAct,
  key: EndpointKey,
  change: (endpoint: ManagedEndpoint, now: Date) => ManagedEndpoint,
): Promise<ManagedEndpoint> {
  return unlessOvertaken(async () => {
    const read = await requireEndpoint(endpoints, key);
    const now = new Date();
    const changed = change(read, now);
    requireOpened(changed);
    if (changed === read) return read;
    const stored = { ...changed, updatedAt: now };
    if (!(await audited.replace(read, stored, action, by))) return overtaken;
    directory.forget(stored.endpointId);
    return stored;
  });
}

import { LRUCache } from "lru-cache";

/**
 * For this time after ingest has passed a tenant's snapshot to sending, other tenants' backlogs are
 * worked on in smaller batches.
 */
const freshMs = 1_000;
/** Most remembered tenants; few, because it matters only whether there is another tenant. */
const tenantsMax = 16;

/** Remembers for a second the tenants whose snapshots ingest has passed to sending. */
export class FreshTenants {
  readonly #tenants = new LRUCache<string, true>({ max: tenantsMax, ttl: freshMs });

  note(tenantId: string): void {
    this.#tenants.set(tenantId, true);
  }

  hasOthers(tenantId: string): boolean {
    return this.#tenants.keys().some((each) => each !== tenantId);
  }
}

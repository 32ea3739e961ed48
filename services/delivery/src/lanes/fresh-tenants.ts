import { LRUCache } from "lru-cache";

/** For this time after a tenant's snapshot was ingested, other tenants' backlogs yield to it. */
const freshMs = 1_000;
/** Most remembered tenants. It only matters whether there are any others, not which. */
const tenantsMax = 16;

/** Remembers the tenants whose snapshots were ingested within the last second. */
export class FreshTenants {
  readonly #tenants = new LRUCache<string, true>({ max: tenantsMax, ttl: freshMs });

  note(tenantId: string): void {
    this.#tenants.set(tenantId, true);
  }

  /** Whether there are tenants other than this one. */
  hasOthers(tenantId: string): boolean {
    return this.#tenants.keys().some((each) => each !== tenantId);
  }
}

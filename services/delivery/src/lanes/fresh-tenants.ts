import { LRUCache } from "lru-cache";

/** For so long after a tenant's snapshot was taken in, other tenants' backlogs give way to it. */
const freshMs = 1_000;
/** Most tenants that are remembered: who is among them does not matter. */
const tenantsMax = 16;

/** Knows whose snapshots were taken in within the last second. */
export class FreshTenants {
  readonly #tenants = new LRUCache<string, true>({ max: tenantsMax, ttl: freshMs });

  note(tenantId: string): void {
    this.#tenants.set(tenantId, true);
  }

  /** Whether there are any but this one. */
  hasOthers(tenantId: string): boolean {
    return this.#tenants.keys().some((each) => each !== tenantId);
  }
}

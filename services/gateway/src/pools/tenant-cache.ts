import { Holdings } from "@vidimus/kit/fair/holdings";

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/**
 * Caches values of tenants up to a number of bytes, of which a tenant gets at most half. When there
 * are too many bytes of a tenant, its least recently used values are dropped; when there are too
 * many of all tenants, those of the tenant with the most bytes.
 */
export class TenantCache<Value> {
  readonly #bytesMax: number;
  readonly #held = new Holdings();
  /** By tenant and name; recently used entries come last. */
  readonly #tenants = new Map<string, Map<string, Entry<Value>>>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(tenantId: string, name: string): Value | undefined {
    const entry = this.#tenants.get(tenantId)?.get(name);
    if (!entry) return undefined;
    this.delete(tenantId, name);
    this.#add(tenantId, name, entry);
    return entry.value;
  }

  /** Does not cache a value above a tenant's half, but drops the one that it replaces. */
  set(tenantId: string, name: string, value: Value, bytes: number): void {
    this.delete(tenantId, name);
    if (bytes > this.#bytesMax / 2) return;
    while (this.#held.of(tenantId) + bytes > this.#bytesMax / 2) this.#dropOldest(tenantId);
    while (this.#held.total + bytes > this.#bytesMax) this.#dropOldest(this.#largest());
    this.#add(tenantId, name, { value, bytes });
  }

  delete(tenantId: string, name: string): void {
    const entries = this.#tenants.get(tenantId);
    const entry = entries?.get(name);
    if (!entries || !entry) return;
    entries.delete(name);
    if (entries.size === 0) this.#tenants.delete(tenantId);
    this.#held.add(tenantId, -entry.bytes);
  }

  #add(tenantId: string, name: string, entry: Entry<Value>): void {
    const entries = this.#tenants.get(tenantId) ?? new Map<string, Entry<Value>>();
    this.#tenants.set(tenantId, entries.set(name, entry));
    this.#held.add(tenantId, entry.bytes);
  }

  #dropOldest(tenantId: string): void {
    for (const name of this.#tenants.get(tenantId)?.keys() ?? []) return this.delete(tenantId, name);
  }

  #largest(): string {
    let largest = "";
    for (const tenantId of this.#tenants.keys()) {
      if (this.#held.of(tenantId) > this.#held.of(largest)) largest = tenantId;
    }
    return largest;
  }
}

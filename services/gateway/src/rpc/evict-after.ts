import type { Evict } from "../access/evictions.ts";

/**
 * Runs a change of a tenant or its keys, then evicts the tenant's keys on every gateway. Evicts
 * after a failure, too, because after a network error or a timeout the change may have been
 * committed. Also evicts at the call's deadline, because the caller then gets an error while the
 * driver tries to commit for up to two minutes.
 */
export async function evictAfter<T>(
  evict: Evict,
  { tenantId, signal }: { readonly tenantId: string; readonly signal: AbortSignal },
  change: () => Promise<T>,
): Promise<T> {
  const evictTenant = () => evict({ tenantId });
  signal.addEventListener("abort", evictTenant, { once: true });
  try {
    return await change();
  } finally {
    signal.removeEventListener("abort", evictTenant);
    evictTenant();
  }
}

import { DomainError } from "@vidimus/kit/errors";
import type { ClientSession, Collection } from "mongodb";
import type { TenantRow } from "./rows.ts";

/**
 * Writes a tenant's row in a transaction, so that changes of its keys and members run one after the
 * other: the transaction of a concurrent change fails with a write conflict, and runs again.
 * Without that write, two changes that count the same rows and write different ones would both
 * succeed.
 *
 * @returns the row before the write; throws `not_found` when there is none
 */
export async function lockTenant(
  tenants: Collection<TenantRow>,
  tenantId: string,
  counter: "keyChanges" | "memberChanges",
  session: ClientSession,
): Promise<TenantRow> {
  const tenant = await tenants.findOneAndUpdate({ _id: tenantId }, { $inc: { [counter]: 1 } }, { session });
  if (!tenant) throw noTenant(tenantId);
  return tenant;
}

export function noTenant(tenantId: string): DomainError {
  return new DomainError("not_found", `there is no tenant "${tenantId}"`);
}

/** Throws `failed_precondition` when a tenant is disabled. */
export function requireEnabled({ _id: tenantId, disabledAt }: TenantRow): void {
  if (disabledAt) throw new DomainError("failed_precondition", `tenant "${tenantId}" is disabled`);
}

import type { MethodImpl } from "@connectrpc/connect";
import type { TenantService } from "@vidimus/contracts/vidimus/access/v1/tenant_service";
import type { TenantStore } from "../store/tenant-store.ts";

export interface ListTenantStatesDeps {
  tenants: Pick<TenantStore, "list">;
}

export function listTenantStates(deps: ListTenantStatesDeps): MethodImpl<typeof TenantService.method.listTenants> {
  return async () => {
    const tenants = await deps.tenants.list();
    return { tenants: tenants.map(({ tenantId, disabledAt }) => ({ tenantId, disabled: disabledAt !== undefined })) };
  };
}

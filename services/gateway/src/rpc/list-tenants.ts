import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantStore } from "../store/tenant-store.ts";
import { tenantToProto } from "./messages.ts";

export interface ListTenantsDeps {
  tenants: Pick<TenantStore, "list">;
}

export function listTenants(deps: ListTenantsDeps): MethodImpl<typeof AccessService.method.listTenants> {
  return async () => ({ tenants: (await deps.tenants.list()).map(tenantToProto) });
}

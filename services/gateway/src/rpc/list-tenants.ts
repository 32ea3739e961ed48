import type { ServiceImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantStore } from "../store/tenant-store.ts";
import { tenantToProto } from "./to-proto.ts";

export function listTenants(deps: {
  tenants: Pick<TenantStore, "list">;
}): ServiceImpl<typeof AccessService>["listTenants"] {
  return async () => ({ tenants: (await deps.tenants.list()).map(tenantToProto) });
}

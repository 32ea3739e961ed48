import type { ServiceImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { callContext } from "@vidimus/kit/rpc/call-context";
import { requireAdministrator, requireTenantId } from "../domain/access-rules.ts";
import type { Evict } from "../evictions.ts";
import type { TenantStore } from "../store/tenant-store.ts";
import { tenantToProto } from "./to-proto.ts";

export function disableTenant(deps: {
  tenants: Pick<TenantStore, "disable">;
  evict: Evict;
  now: () => Date;
}): ServiceImpl<typeof AccessService>["disableTenant"] {
  return async (request, context) => {
    const by = callContext(context);
    requireAdministrator(by.role);
    const tenant = await deps.tenants.disable(requireTenantId(request.tenantId), deps.now(), by);
    deps.evict({ tenantId: tenant.tenantId });
    return { tenant: tenantToProto(tenant) };
  };
}

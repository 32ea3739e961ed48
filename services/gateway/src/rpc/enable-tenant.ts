import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireAdministrator } from "../access/access-rules.ts";
import type { Evict } from "../access/evictions.ts";
import type { TenantStore } from "../store/tenant-store.ts";
import { evictAfter } from "./evict-after.ts";
import { tenantToProto } from "./messages.ts";

export interface EnableTenantDeps {
  tenants: Pick<TenantStore, "enable">;
  evict: Evict;
}

export function enableTenant(deps: EnableTenantDeps): MethodImpl<typeof AccessService.method.enableTenant> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    requireAdministrator(by.role);
    const tenantId = requireTenantId(request.tenantId);
    const tenant = await evictAfter(deps.evict, { tenantId, signal: context.signal }, () =>
      deps.tenants.enable(tenantId, by),
    );
    return { tenant: tenantToProto(tenant) };
  };
}

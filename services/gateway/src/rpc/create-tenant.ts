import type { ServiceImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { callContext } from "@vidimus/kit/rpc/call-context";
import { requireAdministrator, requireName, requireTenantId } from "../domain/access-rules.ts";
import type { TenantStore } from "../store/tenant-store.ts";
import { tenantToProto } from "./to-proto.ts";

export function createTenant(deps: {
  tenants: Pick<TenantStore, "insert">;
  now: () => Date;
}): ServiceImpl<typeof AccessService>["createTenant"] {
  return async (request, context) => {
    const by = callContext(context);
    requireAdministrator(by.role);
    const tenant = {
      tenantId: requireTenantId(request.tenantId),
      name: requireName(request.name),
      createdAt: deps.now(),
      createdBy: by.actor,
    };
    await deps.tenants.insert(tenant, by);
    return { tenant: tenantToProto(tenant) };
  };
}

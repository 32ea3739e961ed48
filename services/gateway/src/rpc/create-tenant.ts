import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireAdministrator, requireName } from "../access/access-rules.ts";
import type { TenantStore } from "../store/tenant-store.ts";
import { tenantToProto } from "./messages.ts";

export interface CreateTenantDeps {
  tenants: Pick<TenantStore, "insert">;
  now: () => Date;
}

export function createTenant(deps: CreateTenantDeps): MethodImpl<typeof AccessService.method.createTenant> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
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

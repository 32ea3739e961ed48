import { TenantService } from "@vidimus/contracts/vidimus/access/v1/tenant_service";
import { type MeshRoute, meshRoute, route } from "@vidimus/kit/rpc/doors/shared/route";
import { listTenantStates, type ListTenantStatesDeps } from "./list-tenant-states.ts";

/** Tells the services with tenants' data which tenants exist, and which are disabled. */
export function tenantRoutes(deps: ListTenantStatesDeps): MeshRoute {
  const methods = route(TenantService, { listTenants: listTenantStates(deps) });
  return meshRoute(methods, { listTenants: ["documents", "phrases", "delivery"] });
}

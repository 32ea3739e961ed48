import { TenantService } from "@vidimus/contracts/vidimus/access/v1/tenant_service";
import type { EnvReader } from "../env.ts";
import { openRpcClient } from "../rpc/client.ts";
import type { ServiceContext } from "../service/service.ts";
import { KnownTenants } from "./known-tenants.ts";

/** Settings of a service that checks tenants. */
export interface TenantsConfig {
  /** `host:port` of the gateway's mesh door; undefined when every tenant counts as known. */
  accessTarget?: string | undefined;
}

/** Reads ACCESS_TARGET; `off` is for a service that runs alone. */
export function readTenantsConfig(env: EnvReader): TenantsConfig {
  const target = env.string("ACCESS_TARGET", { fallback: "127.0.0.1:7150" });
  return { accessTarget: target === "off" ? undefined : target };
}

/** Opens the list of tenants that the teams door is held to; undefined without a target. */
export function openKnownTenants(
  stack: AsyncDisposableStack,
  { accessTarget: target }: TenantsConfig,
  { log, credentialsFor }: Pick<ServiceContext, "log" | "credentialsFor">,
): KnownTenants | undefined {
  if (target === undefined) return undefined;
  const access = stack.use(openRpcClient(TenantService, { target, credentials: credentialsFor("gateway") }));
  const pull = async (signal: AbortSignal) => (await access.listTenants({}, { signal })).tenants;
  return stack.use(new KnownTenants({ pull, log }));
}

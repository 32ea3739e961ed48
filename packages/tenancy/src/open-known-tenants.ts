import { TenantService } from "@vidimus/contracts/vidimus/access/v1/tenant_service";
import type { EnvReader } from "@vidimus/kit/env";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import type { ServiceContext } from "@vidimus/kit/service/service";
import { KnownTenants } from "./known-tenants.ts";

export interface TenantsConfig {
  /** `host:port` of the gateway's mesh door; undefined to accept every tenant. */
  accessTarget?: string | undefined;
}

/** Reads ACCESS_TARGET; `off` is for a service that runs without the others. */
export function readTenantsConfig(env: EnvReader): TenantsConfig {
  const target = env.string("ACCESS_TARGET", { fallback: "127.0.0.1:7150" });
  return { accessTarget: target === "off" ? undefined : target };
}

/** Opens the list of tenants for the teams door; undefined without a target. */
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

import { Code, ConnectError } from "@connectrpc/connect";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { RpcClient } from "@vidimus/kit/rpc/client/client";
import { openDevClient } from "./dev-client.ts";
import type { DevJson, DevTenant } from "./dev-json.ts";

const tenants = [
  { tenantId: "demo", name: "Demo newsroom" },
  { tenantId: "rival", name: "Rival newsroom" },
] as const;

const scopes = [
  "documents:create",
  "publisher:read",
  "phrases:read",
  "phrases:write",
  "webhooks:read",
  "webhooks:write",
];

const asOwner = { headers: { "vidimus-role": "owner", "vidimus-actor": "dev-stack" } };

/**
 * Creates the two tenants of the dev stack, and a key for each that has no valid one.
 *
 * @param known tenants and keys of an earlier start; keys that the gateway accepts are kept
 */
export async function seedTenants(
  dev: Pick<DevJson, "gateway" | "grpc" | "tls">,
  known: readonly DevTenant[],
): Promise<DevTenant[]> {
  using access = openDevClient(dev, "access", AccessService);
  const seeded: DevTenant[] = [];
  for (const tenant of tenants) {
    await createUnlessThere(access, tenant);
    const old = known.find(({ id }) => id === tenant.tenantId)?.apiKey;
    const apiKey = old && (await isAccepted(dev.gateway, old)) ? old : await createKey(access, tenant.tenantId);
    seeded.push({ id: tenant.tenantId, apiKey });
  }
  return seeded;
}

async function createUnlessThere(
  access: RpcClient<typeof AccessService>,
  tenant: (typeof tenants)[number],
): Promise<void> {
  try {
    await access.createTenant(tenant, asOwner);
  } catch (error) {
    if (ConnectError.from(error).code !== Code.AlreadyExists) throw error;
  }
}

async function createKey(access: RpcClient<typeof AccessService>, tenantId: string): Promise<string> {
  const { secret } = await access.createApiKey({ tenantId, name: "dev stack", scopes }, asOwner);
  return secret;
}

async function isAccepted(gatewayUrl: string, apiKey: string): Promise<boolean> {
  const answer = await fetch(`${gatewayUrl}/v1/documents?type=core/article&limit=1`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: AbortSignal.timeout(10_000),
  });
  await answer.body?.cancel();
  return answer.status === 200;
}

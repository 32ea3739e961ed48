import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";
import type { RpcClient } from "@vidimus/kit/rpc/client/client";
import { randomBytes } from "node:crypto";
import { as, type Newsroom, openNewsroom } from "./newsroom.ts";

/** Every scope of a key. The gateway's list is not used, so a scope that it loses fails a test. */
export const everyScope = [
  "documents:create",
  "publisher:read",
  "phrases:read",
  "phrases:write",
  "webhooks:read",
  "webhooks:write",
];

interface IssuedKey {
  readonly keyId: string;
  /** The whole key. */
  readonly key: string;
}

/** Creates tenants and keys in a running constellation, so that tests share none. */
export interface Tenants extends Disposable {
  readonly access: RpcClient<typeof AccessService>;
  /** Creates a tenant with a key of every scope. Disposing `Tenants` closes the newsroom. */
  create(): Promise<Newsroom>;
  /** Creates a key of a tenant, by default of every scope. */
  issue(tenantId: string, scopes?: readonly string[], expiresAt?: Date): Promise<IssuedKey>;
}

export const asAdmin = as("admin");

export function openTenants(dev: Omit<DevJson, "pids">): Tenants {
  const access = openDevClient(dev, "access", AccessService);
  const opened = new DisposableStack();
  opened.use(access);
  const issue = async (tenantId: string, scopes: readonly string[] = everyScope, expiresAt?: Date) => {
    const request = { tenantId, name: "test", scopes: [...scopes] };
    const end = expiresAt ? { expiresAt: timestampFromDate(expiresAt) } : {};
    const { apiKey, secret } = await access.createApiKey({ ...request, ...end }, asAdmin);
    return { keyId: apiKey?.keyId ?? "", key: secret };
  };
  return {
    access,
    issue,
    async create() {
      const tenantId = `t_${randomBytes(6).toString("hex")}`;
      await access.createTenant({ tenantId, name: tenantId }, asAdmin);
      const { key } = await issue(tenantId);
      return opened.use(openNewsroom({ ...dev, tenants: [{ id: tenantId, apiKey: key }] }, tenantId));
    },
    [Symbol.dispose]: () => opened.dispose(),
  };
}

import { createClient, type Interceptor } from "@connectrpc/connect";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { createGrpcTransport } from "@vidimus/kit/rpc/client/grpc-transport";
import { inject } from "vitest";
import type { GatewayConfig } from "../../src/config.ts";
import { scopes } from "../../src/access/scopes.ts";
import { startGateway } from "../../src/gateway.ts";

/** Calls to other services fail, unless `overrides` has their targets. */
export async function openGateway(overrides: Partial<GatewayConfig> = {}) {
  const config: GatewayConfig = {
    host: "127.0.0.1",
    grpcPort: 0,
    meshPort: 0,
    opsPort: 0,
    httpHost: "127.0.0.1",
    httpPort: 0,
    mongoUrl: inject("mongoUrl"),
    broker: { url: inject("natsUrl") },
    database: testDatabaseName("access"),
    migrate: "on",
    logLevel: "silent",
    drainDelayMs: 0,
    documentsTarget: "127.0.0.1:1",
    phrasesTarget: "127.0.0.1:1",
    signingTarget: "127.0.0.1:1",
    deliveryTarget: "127.0.0.1:1",
    ipRate: undefined,
    authFailureRate: undefined,
    writeBudget: undefined,
    trustedProxies: [],
    publicDocs: false,
    ...overrides,
  };
  const gateway = await startGateway(config);
  const url = `http://127.0.0.1:${gateway.httpPort}`;
  return {
    ...gateway,
    config,
    url,
    ops: `http://127.0.0.1:${gateway.opsPort}`,
    access: accessClient(gateway.grpcPort),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

/** @param port of the gateway's teams door */
export function accessClient(port: number, role = "admin", actor = "ada") {
  return createClient(AccessService, transportTo(port, role, actor));
}

/** @param port of the gateway's teams door */
export function memberClient(port: number, role = "owner", actor = "ada") {
  return createClient(MemberService, transportTo(port, role, actor));
}

function transportTo(port: number, role: string, actor: string) {
  const asActor: Interceptor = (next) => (request) => {
    request.header.set("vidimus-role", role);
    request.header.set("vidimus-actor", actor);
    return next(request);
  };
  return createGrpcTransport({ target: `127.0.0.1:${port}`, interceptors: [asActor] });
}

/** Makes a tenant, unless it exists, and a key of it with the scopes, by default all. */
export async function newKey(
  access: ReturnType<typeof accessClient>,
  tenantId: string,
  granted: readonly string[] = scopes,
): Promise<string> {
  await access.createTenant({ tenantId, name: tenantId }).catch(() => {});
  const { secret } = await access.createApiKey({ tenantId, name: "test", scopes: [...granted] });
  return secret;
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

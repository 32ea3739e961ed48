import { createClient, type Interceptor } from "@connectrpc/connect";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { makeIdentities } from "@vidimus/devstack/stack/dev-identities";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { createGrpcTransport } from "@vidimus/kit/rpc/client/grpc-transport";
import { fileCredentials } from "@vidimus/kit/tls/file-credentials";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { openGateway } from "../../../../services/gateway/test/support/start-gateway.ts";
import { readConfig } from "../../src/config.ts";
import { startConsole } from "../../src/console.ts";
import { clientId, clientSecret, openIssuer } from "./issuer.ts";

interface ConsoleOptions {
  /** Content of the file that CONSOLE_OIDC_GROUPS names. */
  readonly groups?: object;
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * A console in front of a real access service with the tenants demo and times. People sign in to
 * the console at an issuer. The console calls access with its certificate, to which access grants
 * only what `deploy/k8s/components/console/grant.json` lists.
 */
export async function openConsoleWithIssuer({ groups, settings = {} }: ConsoleOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "console-oidc-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const { accessTarget, tls, members } = await openAccess(stack, join(folder, "tls"));
  const port = await pickFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const issuer = stack.use(await openIssuer(origin));
  const database = testDatabaseName("console");
  const config = readConfig({
    MONGODB_URL: inject("mongoUrl"),
    MONGODB_DATABASE: database,
    OPS_PORT: "0",
    TLS_CERT_FILE: tls.certFile,
    TLS_KEY_FILE: tls.keyFile,
    TLS_CA_FILE: tls.caFile,
    CONSOLE_PORT: String(port),
    ACCESS_TARGET: accessTarget,
    LOG_LEVEL: "silent",
    CONSOLE_OIDC_ISSUER: issuer.url,
    CONSOLE_OIDC_CLIENT_ID: clientId,
    CONSOLE_OIDC_CLIENT_SECRET_FILE: write("secret", clientSecret),
    CONSOLE_OIDC_SCOPE: "openid profile email groups",
    ...(groups && { CONSOLE_OIDC_GROUPS: write("groups.json", JSON.stringify(groups)) }),
    ...settings,
  });
  stack.use(await startConsole(config));
  const owned = stack.move();
  return { origin, port, issuer, database, members, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/**
 * Opens the access service. In the result, `tls` is the console's certificate, and `members` a
 * client with the operator's.
 */
async function openAccess(stack: AsyncDisposableStack, folder: string) {
  const identities = await makeIdentities(folder);
  const { grantsFile } = identities;
  const gateway = stack.use(await openGateway({ tls: identities.services.gateway, grantsFile }));
  const accessTarget = `127.0.0.1:${gateway.grpcPort}`;
  const credentials = fileCredentials(identities.operator, "gateway");
  const transport = createGrpcTransport({ target: accessTarget, interceptors: [asOperator], credentials });
  stack.defer(() => transport.close());
  const access = createClient(AccessService, transport);
  await access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
  await access.createTenant({ tenantId: "times", name: "The Times" });
  return { accessTarget, tls: identities.console, members: createClient(MemberService, transport) };
}

const asOperator: Interceptor = (next) => (request) => {
  request.header.set("vidimus-role", "owner");
  request.header.set("vidimus-actor", "ada");
  return next(request);
};

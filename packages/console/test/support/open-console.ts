import { pickFreePort } from "@vidimus/devstack/port-guard";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { memberClient, openGateway } from "../../../../services/gateway/test/support/start-gateway.ts";
import { readConfig } from "../../src/config.ts";
import { startConsole } from "../../src/console.ts";
import { clientId, clientSecret, openIssuer } from "./issuer.ts";

/** A console in front of a real access service with the tenants demo and times, whose people sign in at an issuer. */
export async function openConsoleWithIssuer(groups?: object) {
  await using stack = new AsyncDisposableStack();
  const gateway = stack.use(await openGateway());
  await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
  await gateway.access.createTenant({ tenantId: "times", name: "The Times" });
  const port = await pickFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const issuer = stack.use(await openIssuer(origin));
  const folder = mkdtempSync(join(tmpdir(), "console-oidc-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const database = testDatabaseName("console");
  const settings = {
    MONGODB_URL: inject("mongoUrl"),
    MONGODB_DATABASE: database,
    OPS_PORT: "0",
    CONSOLE_PORT: String(port),
    ACCESS_TARGET: `127.0.0.1:${gateway.grpcPort}`,
    LOG_LEVEL: "silent",
    CONSOLE_OIDC_ISSUER: issuer.url,
    CONSOLE_OIDC_CLIENT_ID: clientId,
    CONSOLE_OIDC_CLIENT_SECRET_FILE: write("secret", clientSecret),
    CONSOLE_OIDC_SCOPE: "openid profile email groups",
    ...(groups && { CONSOLE_OIDC_GROUPS: write("groups.json", JSON.stringify(groups)) }),
  };
  stack.use(await startConsole(readConfig(settings)));
  const owned = stack.move();
  return {
    origin,
    port,
    issuer,
    database,
    /** Calls as a program of an operator. */
    members: memberClient(gateway.grpcPort),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { ConfigError } from "@vidimus/kit/env";
import { describe, expect, test } from "vitest";
import { openGateway } from "./support/start-gateway.ts";

/** Every kind of door that a service has; the public one is the gateway's alone. */
const doors = [
  { door: "teams", setting: "grpcPort", variable: "GRPC_PORT" },
  { door: "mesh", setting: "meshPort", variable: "MESH_PORT" },
  { door: "ops", setting: "opsPort", variable: "OPS_PORT" },
  { door: "public", setting: "httpPort", variable: "HTTP_PORT" },
] as const;

async function takePort(): Promise<{ port: number; holder: Server }> {
  const port = await pickFreePort();
  const holder = createServer();
  await once(holder.listen(port, "127.0.0.1"), "listening");
  return { port, holder };
}

describe.concurrent.each(doors)("the $door port, taken at the start", ({ setting, variable }) => {
  test("is opened when it is released after a second", async () => {
    const { port, holder } = await takePort();
    setTimeout(() => holder.close(), 1_000);
    await using gateway = await openGateway({ [setting]: port });
    expect(gateway[setting]).toBe(port);
  });

  test("fails the start with an error that names its setting when it is held for five seconds", async () => {
    const { port, holder } = await takePort();
    const startedMs = performance.now();
    const fault = await openGateway({ [setting]: port }).catch((error: unknown) => error);
    expect(fault).toEqual(new ConfigError(`${variable}: port ${port} of 127.0.0.1 is taken`));
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(5_000);
    holder.close();
  });
});

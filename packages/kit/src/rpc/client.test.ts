import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { expect, test } from "vitest";
import { openRpcClient } from "./client.ts";
import { answer, serveHealth } from "./testing/transport-servers.ts";

test.each([
  "127.0.0.1:PORT",
  "localhost:PORT",
  "dns:///localhost:PORT",
  "ipv4:127.0.0.1:PORT",
  "ipv4:127.0.0.1:PORT,127.0.0.1:PORT",
])("%s is a target", async (target) => {
  const server = await serveHealth({ check: () => answer(1) });
  using client = openRpcClient(Health, { target: target.replaceAll("PORT", String(server.port)) });
  expect((await client.check({}, { timeoutMs: 5_000 })).status).toBe(1);
});

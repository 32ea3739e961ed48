import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ConfigError } from "./env.ts";
import { listen } from "./listen.ts";
import { portOf } from "./port.ts";

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

const settings = { hostSetting: "HOST", portSetting: "OPS_PORT" };

/** Opens a TCP server in place of a door. Returns its port. */
async function open(host: string, port: number): Promise<number> {
  const server = createServer();
  servers.push(server);
  await once(server.listen(port, host), "listening");
  return portOf(server.address());
}

test("listen takes a free port at its first attempt", async () => {
  let attempts = 0;
  const port = await listen({ ...settings, host: "127.0.0.1", port: 0 }, () => {
    attempts += 1;
    return open("127.0.0.1", 0);
  });
  expect([attempts, port]).toEqual([1, expect.any(Number)]);
});

test("listen takes a port that another server releases after two failed attempts", async () => {
  const port = await open("127.0.0.1", 0);
  let attempts = 0;
  const opened = await listen({ ...settings, host: "127.0.0.1", port }, () => {
    attempts += 1;
    if (attempts === 3) servers[0]?.close();
    return open("127.0.0.1", port);
  });
  expect(opened).toBe(port);
  expect(attempts).toBeGreaterThanOrEqual(3);
});

test("a port that is still taken after five seconds is a fault of its setting", async () => {
  const port = await open("127.0.0.1", 0);
  const startedMs = performance.now();
  const fault = await listen({ ...settings, host: "127.0.0.1", port }, () => open("127.0.0.1", port)).catch(
    (error: unknown) => error,
  );
  expect(fault).toEqual(new ConfigError(`OPS_PORT: port ${port} of 127.0.0.1 is taken`));
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(5_000);
});

test("an address that the machine does not have is a fault of its setting after one attempt", async () => {
  let attempts = 0;
  const opening = listen({ ...settings, host: "192.0.2.1", port: 0 }, () => {
    attempts += 1;
    return open("192.0.2.1", 0);
  });
  await expect(opening).rejects.toThrow(new ConfigError("HOST: cannot listen on 192.0.2.1 (EADDRNOTAVAIL)"));
  expect(attempts).toBe(1);
});

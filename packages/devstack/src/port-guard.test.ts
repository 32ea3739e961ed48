import { once } from "node:events";
import { createServer } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { PortTakenError } from "./errors.ts";
import { assertPortFree, pickFreePort } from "./port-guard.ts";

// A taken port is tried for five seconds.
test.concurrent.for(["127.0.0.1", "0.0.0.0"])(
  "a port taken on %s is refused with its number and the variable that changes it",
  async (host, { onTestFinished }) => {
    const port = await pickFreePort();
    const server = createServer().listen(port, host);
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const refusal = await assertPortFree(port, "GATEWAY_PORT").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PortTakenError);
    expect(String(refusal)).toMatch(new RegExp(`: port ${port} is taken \\(.*\\); set GATEWAY_PORT to another$`));
  },
);

test.concurrent("a taken port that is released a second later passes the check", async () => {
  const port = await pickFreePort();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  setTimeout(() => server.close(), 1_000);
  await assertPortFree(port, "GATEWAY_PORT");
  expect(server.listening).toBe(false);
});

test("a port is not picked again within the next 700 picks, although nothing listens on it", async () => {
  const ports: number[] = [];
  for (let pick = 0; pick < 1_500; pick += 1) ports.push(await pickFreePort());
  const again = ports.filter((port, pick) => ports.slice(Math.max(pick - 700, 0), pick).includes(port));
  expect(again).toEqual([]);
});

test("threads that pick at the same time do not pick from the same ports", async () => {
  const pick = `import(${JSON.stringify(new URL("port-guard.ts", import.meta.url).href)})
    .then(({ pickFreePort }) => pickFreePort())
    .then((port) => require("node:worker_threads").parentPort.postMessage(port));
    require("node:worker_threads").parentPort.on("message", () => {});`;
  const workers = [1, 2, 3].map(() => new Worker(pick, { eval: true }));
  const ports = await Promise.all([
    pickFreePort(),
    ...workers.map(async (worker) => (await once(worker, "message"))[0]),
  ]);
  await Promise.all(workers.map(async (worker) => worker.terminate()));
  expect(new Set(ports.map((port) => port % 16)).size).toBe(4);
});

test("a free port passes the check, also a second time", async () => {
  const port = await pickFreePort();
  await assertPortFree(port, "GATEWAY_PORT");
  await assertPortFree(port, "GATEWAY_PORT");
});

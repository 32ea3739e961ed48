import { Code } from "@connectrpc/connect";
import { randomUUID } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { countCommands } from "@vidimus/devstack/testing/count-commands";
import { portOf } from "@vidimus/kit/port";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { mintApiKey } from "../src/access/api-key.ts";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

const commands = countCommands("gateway");
const sockets = new Set<Socket>();
let cut = false;
let rpc: Awaited<ReturnType<typeof serve>>;
let gateway: Awaited<ReturnType<typeof openGateway>>;

/** A proxy before MongoDB. The test cuts the proxy's connections. */
const way = createServer((near) => {
  if (cut) {
    near.destroy();
    return;
  }
  const [host = "", port] = new URL(inject("mongoUrl")).host.split(",")[0]!.split(":");
  const far = connect(Number(port ?? 27017), host);
  for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
    sockets.add(socket);
    socket.on("error", () => other.destroy()).on("close", () => other.destroy());
    socket.pipe(other);
  }
});

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    way.listen(0, "127.0.0.1", resolve);
  });
  rpc = await serve(new FakeDocuments().routes());
  gateway = await openGateway({
    documentsTarget: `127.0.0.1:${rpc.port}`,
    mongoUrl: `mongodb://127.0.0.1:${portOf(way.address())}/?directConnection=true`,
    writeBudget: { count: 1_000, windowMs: 60_000 },
  });
});

afterAll(async () => {
  commands[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
  for (const socket of sockets) socket.destroy();
  way.close();
});

/** Cuts the gateway off from MongoDB until `cut` is false. */
function cutOff(): void {
  cut = true;
  for (const socket of sockets) socket.destroy();
}

function read(key: string) {
  return fetch(`${gateway.url}/v1/documents?type=core/tag`, { headers: bearer(key) });
}

/**
 * Reads until the gateway has cached a key. The creation of a key evicts it on all gateways; when
 * that eviction comes back from the broker during a look-up, the key is not cached.
 */
function readUntilCached(key: string): Promise<void> {
  return vi.waitFor(async () => expect(await commands.during(() => read(key))).not.toContain("find api_keys"), patient);
}

describe("while MongoDB does not answer", () => {
  let known: string;
  let unseen: string;

  beforeAll(async () => {
    known = await newKey(gateway.access, "acme");
    unseen = await newKey(gateway.access, "acme");
    await readUntilCached(known);
    cutOff();
  });
  afterAll(() => void (cut = false));

  test("a key that the gateway has cached is valid", async () => {
    expect((await read(known)).status).toBe(200);
  });

  test("a key that is not cached gets 503, not 401, whether it exists or not", async () => {
    for (const key of [unseen, mintApiKey().key]) {
      const response = await read(key);
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(await response.json()).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
    }
  });

  test("a text without the form of a key gets 401", async () => {
    expect((await read("vk_nonsense")).status).toBe(401);
  });

  test("a key that is not cached is looked up once MongoDB answers again: 200 if it exists, else 401", async () => {
    expect((await read(unseen)).status).toBe(503);
    cut = false;
    await vi.waitFor(async () => expect((await read(unseen)).status).toBe(200), { timeout: 15_000, interval: 100 });
    expect((await read(mintApiKey().key)).status).toBe(401);
  });
});

test("while MongoDB does not answer, every write that passes uncharged is counted in the metrics", async () => {
  const key = await newKey(gateway.access, "acme");
  await readUntilCached(key);
  cutOff();
  onTestFinished(() => void (cut = false));
  const headers = { ...bearer(key), "content-type": "application/json" };
  const create = async () => {
    const body = JSON.stringify({ id: randomUUID(), type: "core/tag", title: "a" });
    return (await fetch(`${gateway.url}/v1/documents`, { method: "POST", headers, body })).status;
  };
  const statuses = await Promise.all(Array.from({ length: 20 }, create));
  expect(new Set(statuses)).toEqual(new Set([201]));
  const metrics = await (await fetch(`${gateway.ops}/metrics`)).text();
  const [, counted] = /^vidimus_write_budget_open_total\{[^}]*\} (\d+)$/m.exec(metrics) ?? [];
  expect(counted).toBe("20");
});

test("when MongoDB stops answering, the gateway is still ready, but its access API is UNAVAILABLE", async () => {
  const listTenants = () => gateway.access.listTenants({}, { timeoutMs: 20_000 });
  const readiness = async () => (await fetch(`${gateway.ops}/readyz`)).status;
  await vi.waitFor(listTenants, { timeout: 15_000, interval: 100 });
  expect(await readiness()).toBe(200);
  cutOff();
  expect(await readiness()).toBe(200);
  await expect(listTenants()).rejects.toMatchObject({ code: Code.Unavailable });
  cut = false;
  await vi.waitFor(listTenants, { timeout: 15_000, interval: 100 });
});

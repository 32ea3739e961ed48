import type { BackingServer } from "@vidimus/devstack/backing/server";
import { openTestMongod } from "@vidimus/devstack/testing/test-mongod";
import { MongoClient } from "mongodb";
import { Code } from "@connectrpc/connect";
import { portOf } from "@vidimus/kit/port";
import { connect, createServer } from "node:net";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

type Gateway = Awaited<ReturnType<typeof openGateway>>;

let mongod: BackingServer;
let mongo: MongoClient;
let rpc: Awaited<ReturnType<typeof serve>>;
let first: Gateway;
let second: Gateway;

/** Whether the proxy of the first gateway to MongoDB drops the answers to commits. */
let losesCommits = false;
const way = createServer((near) => {
  const far = connect(Number(new URL(mongod.url).port), "127.0.0.1");
  near.on("error", () => far.destroy()).on("close", () => far.destroy());
  far.on("error", () => near.destroy()).on("close", () => near.destroy());
  far.pipe(near);
  near.on("data", (chunk) => {
    if (losesCommits && chunk.includes("commitTransaction")) far.unpipe(near).resume();
    far.write(chunk);
  });
});

beforeAll(async () => {
  mongod = await openTestMongod();
  mongo = await MongoClient.connect(mongod.url);
  rpc = await serve(new FakeDocuments().routes());
  await once(way.listen(0, "127.0.0.1"), "listening");
  second = await openGateway({ documentsTarget: `127.0.0.1:${rpc.port}`, mongoUrl: mongod.url });
  const mongoUrl = `mongodb://127.0.0.1:${portOf(way.address())}/?directConnection=true`;
  first = await openGateway({ ...second.config, grpcPort: 0, meshPort: 0, httpPort: 0, opsPort: 0, mongoUrl });
});

afterEach(async () => {
  losesCommits = false;
  await mongo.db("admin").command({ configureFailPoint: "failCommand", mode: "off" });
});

afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
  await mongo.close();
  way.close();
  await mongod[Symbol.asyncDispose]();
});

/** Lets the next commit be made and reported as not confirmed in time: 50 is MaxTimeMSExpired. */
async function loseNextCommit(): Promise<void> {
  const data = {
    failCommands: ["commitTransaction"],
    writeConcernError: { code: 50, errmsg: "waiting for replication timed out" },
    appName: "gateway",
  };
  await mongo.db("admin").command({ configureFailPoint: "failCommand", mode: { times: 1 }, data });
}

const read = async (gateway: Gateway, key: string) =>
  (await fetch(`${gateway.url}/v1/documents?type=core/tag`, { headers: bearer(key) })).status;

type Target = { readonly tenantId: string; readonly keyId: string };

/** Each change, and what a reader with the key is answered afterwards. */
const changes: readonly (readonly [name: string, change: (target: Target) => Promise<unknown>, status: number])[] = [
  ["a revocation", (target) => first.access.revokeApiKey(target), 401],
  ["a roll without overlap", (target) => first.access.rollApiKey(target), 401],
  ["a change of scopes", (target) => first.access.updateApiKeyScopes({ ...target, scopes: ["phrases:read"] }), 403],
  ["the disabling of a tenant", ({ tenantId }) => first.access.disableTenant({ tenantId }), 401],
];

test.each(changes)(
  "%s whose commit is not confirmed fails, yet takes effect on both gateways",
  async (name, change, status) => {
    const tenantId = name.replaceAll(" ", "_");
    const key = await newKey(first.access, tenantId);
    const { apiKeys } = await first.access.listApiKeys({ tenantId });
    const keyId = apiKeys[0]!.keyId;
    // Both gateways hold the key in memory, for ten seconds.
    expect([await read(first, key), await read(second, key)]).toEqual([200, 200]);
    await loseNextCommit();
    await expect(change({ tenantId, keyId })).rejects.toThrow();
    expect(await read(first, key)).toBe(status);
    await vi.waitFor(async () => expect(await read(second, key)).toBe(status), { timeout: 3_000 });
  },
);

test("a revocation that MongoDB does not answer takes effect at another gateway after the call's deadline", async () => {
  const tenantId = "unanswered";
  const key = await newKey(first.access, tenantId);
  const { apiKeys } = await first.access.listApiKeys({ tenantId });
  expect([await read(first, key), await read(second, key)]).toEqual([200, 200]);
  losesCommits = true;
  const revocation = first.access.revokeApiKey({ tenantId, keyId: apiKeys[0]!.keyId }, { timeoutMs: 1_000 });
  await expect(revocation).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  await vi.waitFor(async () => expect(await read(second, key)).toBe(401), { timeout: 3_000 });
});

import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { createSecretKey, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import type { ManagedEndpoint } from "../src/domain/endpoint.ts";
import { EndpointStore } from "../src/store/endpoint-store.ts";
import type { EndpointRow } from "../src/store/rows.ts";
import { createSecretBox } from "../src/store/secret-box.ts";

const [oldKek, newKek] = [createSecretKey(Buffer.alloc(32, 1)), createSecretKey(Buffer.alloc(32, 2))];
const secret = Buffer.alloc(32, 7);
let mongo: Awaited<ReturnType<typeof openMongo>>;

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName("endpoints"), appName: "test" });
});
afterAll(() => mongo[Symbol.asyncDispose]());
beforeEach(() => rows().deleteMany({}));

const rows = () => mongo.db.collection<EndpointRow>("endpoints");
const storeOf = (kek = oldKek, other?: typeof kek) => new EndpointStore(mongo.db, createSecretBox(kek, other));

function endpointOf(tenantId: string, change: Partial<ManagedEndpoint> = {}): ManagedEndpoint {
  const now = new Date();
  return {
    endpointId: randomUUID(),
    tenantId,
    url: "https://example.com/",
    name: "Desk",
    description: "Who reads it",
    secrets: [secret],
    createdAt: now,
    updatedAt: now,
    enabled: true,
    events: ["snapshot.usable"],
    headers: { authorization: "Basic eA==" },
    maxInFlight: 4,
    ratePerSecond: 2.5,
    documentTypes: ["core/article"],
    notices: [{ event: "endpoint.recovered", reason: "accepted", at: now, since: now }],
    revision: 1,
    ...change,
  };
}

/** Expects the endpoint to be read as one to which nothing is sent, with nothing unsealed. */
async function expectUnopened({ tenantId, endpointId }: ManagedEndpoint, why: RegExp): Promise<void> {
  const found = await storeOf().find(tenantId, endpointId);
  expect(found).toMatchObject({ enabled: false, headers: {}, unopened: expect.stringMatching(why) });
  expect(found?.secrets).not.toContainEqual(secret);
}

test("an endpoint is read as it was stored", async () => {
  const endpoint = endpointOf("acme", { previousSecretEndsAt: new Date(Date.now() + 60_000) });
  const stored = { ...endpoint, secrets: [secret, Buffer.alloc(32, 8)] as const };
  await storeOf().insert(stored);
  expect(await storeOf().find("acme", endpoint.endpointId)).toEqual(stored);
});

test("another tenant does not find an endpoint", async () => {
  const { endpointId, ...endpoint } = endpointOf("acme");
  await storeOf().insert({ ...endpoint, endpointId });
  expect(await storeOf().find("rival", endpointId)).toBeUndefined();
});

test("an endpoint's secret and headers are not stored in the clear", async () => {
  await storeOf().insert(endpointOf("acme"));
  const row = (await rows().findOne({}))!;
  const sealed = [...row.secrets.map((each) => each.sealed), row.headers!].map((each) => each.value());
  const stored = [JSON.stringify(row), ...sealed.map((each) => Buffer.from(each).toString("latin1"))].join("\n");
  for (const encoding of ["base64", "latin1"] as const) expect(stored).not.toContain(secret.toString(encoding));
  for (const hidden of ["Basic", "authorization"]) expect(stored).not.toContain(hidden);
});

test("endpoints are sealed again only when a new KEK is the newest, and then open with that KEK alone", async () => {
  const endpoint = endpointOf("acme");
  await storeOf().insert(endpoint);
  expect(await storeOf(oldKek, newKek).sealAll()).toBe(0);
  expect(await storeOf(newKek, oldKek).sealAll()).toBe(1);
  expect(await storeOf(newKek).find("acme", endpoint.endpointId)).toEqual({ ...endpoint, revision: 2 });
});

test("a start with a wrong KEK fails with a message that names the setting", async () => {
  await storeOf().insert(endpointOf("acme"));
  await expect(storeOf(newKek).sealAll()).rejects.toThrow(/^wrong KEK: the secret of endpoint .* DELIVERY_KEK_FILE/);
});

test("a secret that was copied into another row does not open there", async () => {
  const [own, foreign] = [endpointOf("rival"), endpointOf("acme")];
  await storeOf().insert(own);
  await storeOf().insert(foreign);
  const copied = await rows().findOne({ _id: own.endpointId });
  await rows().updateOne({ _id: foreign.endpointId }, { $set: { secrets: copied!.secrets } });
  await expectUnopened(foreign, /was changed where it is stored/);
});

test("a row that does not open does not stop a start, when another row does open", async () => {
  await storeOf().insert(endpointOf("acme"));
  await storeOf(newKek).insert(endpointOf("acme"));
  expect(await storeOf().sealAll()).toBe(0);
});

test("a row that does not open does not stop the reading of another endpoint of its tenant", async () => {
  const [sound, planted] = [endpointOf("acme"), endpointOf("acme")];
  await storeOf().insert(sound);
  await storeOf(newKek).insert(planted);
  const enabled = new Map((await storeOf().list("acme")).map((each) => [each.endpointId, each.enabled]));
  expect([sound, planted].map(({ endpointId }) => enabled.get(endpointId))).toEqual([true, false]);
});

/** A store that has read two endpoints, and cannot open the secret of one. */
async function readPlanted() {
  const planted = endpointOf("acme");
  await storeOf().insert(endpointOf("acme"));
  await storeOf(newKek).insert(planted);
  const store = storeOf();
  const told: unknown[] = [];
  store.unopened.onChange((change) => told.push(change));
  await store.sealAll();
  await store.list("acme");
  return { store, told, endpointId: planted.endpointId };
}

test("an endpoint whose sealed secret cannot be opened is reported once, although it is read twice", async () => {
  const { told, endpointId } = await readPlanted();
  expect(told).toMatchObject([{ endpointId, why: expect.stringContaining("wrong KEK") }]);
});

test("an endpoint whose sealed secret cannot be opened cannot be changed", async () => {
  const { store, endpointId } = await readPlanted();
  await expect(store.replace((await store.find("acme", endpointId))!)).rejects.toThrow("cannot be opened");
});

test("an endpoint whose sealed secret cannot be opened counts as unopened until it is deleted", async () => {
  const { store, endpointId } = await readPlanted();
  expect(store.unopened.count).toBe(1);
  await store.delete("acme", endpointId);
  expect(store.unopened.count).toBe(0);
});

test("an endpoint that another process has deleted counts as unopened until the next check", async () => {
  const { store, endpointId } = await readPlanted();
  await storeOf().delete("acme", endpointId);
  expect(store.unopened.count).toBe(1);
  await store.recheckUnopened();
  expect(store.unopened.count).toBe(0);
});

test("an endpoint that another process has repaired counts as unopened until the next check", async () => {
  const { store, endpointId } = await readPlanted();
  await storeOf(newKek).replace((await storeOf(newKek).find("acme", endpointId))!);
  await storeOf(oldKek, newKek).sealAll();
  expect(store.unopened.count).toBe(1);
  await store.recheckUnopened();
  expect(store.unopened.count).toBe(0);
});

test.each([
  ["another origin", "https://evil.example/"],
  ["another path of its origin", "https://example.com/other"],
])("an endpoint whose stored URL became %s opens neither secret nor headers", async (_, url) => {
  const endpoint = endpointOf("acme");
  await storeOf().insert(endpoint);
  await rows().updateOne({ _id: endpoint.endpointId }, { $set: { url } });
  await expectUnopened(endpoint, /was changed where it is stored/);
  expect(await storeOf().sealAll()).toBe(0);
  // Headers that were sealed for another URL must not be unsealed either, even beside a secret that
  // was sealed for the row's own URL.
  const other = endpointOf("acme", { endpointId: endpoint.endpointId, url });
  await rows().deleteMany({});
  await storeOf().insert(endpoint);
  const { headers } = (await rows().findOne({}))!;
  await rows().deleteMany({});
  await storeOf().insert(other);
  await rows().updateOne({}, { $set: { headers: headers! } });
  await expectUnopened(endpoint, /the headers of endpoint/);
});

test("of two changes to the same revision of an endpoint, exactly one is stored", async () => {
  const endpoint = endpointOf("acme");
  await storeOf().insert(endpoint);
  const changes = [
    storeOf().replace({ ...endpoint, maxInFlight: 1 }),
    storeOf().replace({ ...endpoint, maxInFlight: 2 }),
  ];
  expect(new Set(await Promise.all(changes))).toEqual(new Set([false, true]));
  expect((await storeOf().find("acme", endpoint.endpointId))?.revision).toBe(2);
});

test("an endpoint is read without its older secret once the time of that secret has ended", async () => {
  const endpoint = endpointOf("acme", { secrets: [secret, Buffer.alloc(32, 8)], previousSecretEndsAt: new Date(1) });
  await storeOf().insert(endpoint);
  const found = await storeOf().find("acme", endpoint.endpointId);
  expect(found?.secrets).toEqual([secret]);
  expect(found).not.toHaveProperty("previousSecretEndsAt");
});

import { kekOf } from "@vidimus/kit/kek/kek-box";
import { patient } from "@vidimus/kit/testing/patient";
import { createSecretKey } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openReceiver } from "./support/receiver.ts";
import { openDelivery, openDeliveryProcess, openWorld, publish, testKek, type World } from "./support/world.ts";

const newKek = createSecretKey(Buffer.alloc(32, 6));
const [oldId, newId] = [testKek, newKek].map((kek) => kekOf(kek, "").id);
/** So many tenants that each of two processes is preferred for some of them. */
const tenants = Array.from({ length: 8 }, (_, index) => `tenant${index}`);
let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** The ids of the KEKs that have sealed the secrets of endpoints. */
async function sealedBy(): Promise<Set<string>> {
  const rows = await world.endpoints().find().toArray();
  const envelopes = rows.flatMap(({ secrets }) => secrets.map(({ sealed }) => Buffer.from(sealed.value())));
  return new Set(envelopes.map((envelope) => envelope.subarray(1, 9).toString("hex")));
}

test("webhooks are sent throughout the two rollouts that replace the KEK", async () => {
  await using receiver = await openReceiver();
  await using before = await openDeliveryProcess(world);
  const rolled = { kek: newKek, otherKek: testKek };
  await expect.poll(() => world.replicas().countDocuments(), patient).toBe(1);
  const first = await openDelivery(world, {}, rolled);

  // The new process still seals with the old KEK, because the old process has no other.
  for (const tenantId of tenants) await first.endpoint(tenantId, receiver.url);
  expect(await sealedBy()).toEqual(new Set([oldId]));
  for (const tenantId of tenants) await publish(world, tenantId);
  await receiver.arrivals(tenants.length);

  await before.kill();
  await using second = await openDeliveryProcess(world, {}, rolled);
  await expect.poll(sealedBy, patient).toEqual(new Set([newId]));
  for (const tenantId of tenants) await publish(world, tenantId);
  await receiver.arrivals(2 * tenants.length);
  await first.endpoint("later", receiver.url);
  expect(await sealedBy()).toEqual(new Set([newId]));

  await using last = await openDelivery(world, {}, { kek: newKek });
  for (const tenantId of tenants) await publish(world, tenantId);
  await receiver.arrivals(3 * tenants.length);
  await first[Symbol.asyncDispose]();
  await second.kill();
  for (const tenantId of tenants) await publish(world, tenantId);
  await receiver.arrivals(4 * tenants.length);
  expect((await last.endpoints.listEndpoints({ tenantId: "later" })).endpoints).toHaveLength(1);
});

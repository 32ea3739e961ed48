/** The write budget over several gateways, on a real database. */
import { openProfile } from "@vidimus/devstack/testing/profile";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { type Mongo, openMongo } from "@vidimus/kit/mongo/mongo";
import * as fc from "fast-check";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import type { Rate } from "../src/rates/rate.ts";
import { WriteBudget } from "../src/rates/write-budget.ts";
import type { WriteBudgetRow } from "../src/store/rows.ts";
import { WriteBudgetStore } from "../src/store/write-budget-store.ts";
import { openEdge } from "./support/open-edge.ts";
import { bearer } from "./support/start-gateway.ts";

let mongo: Mongo;
let store: WriteBudgetStore;

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName("budget"), appName: "test" });
  store = new WriteBudgetStore(mongo.db);
});

afterAll(async () => {
  await mongo?.db.dropDatabase();
  await mongo?.[Symbol.asyncDispose]();
});

const openBudget = (rate: Rate, now = () => performance.now()) =>
  new WriteBudget({
    store,
    rate,
    now,
    onOpen: (error) => {
      throw error;
    },
  });

const rowOf = (tenantId: string) =>
  mongo.db.collection<WriteBudgetRow>("write_budgets").findOne({ _id: tenantId }, { readConcern: "local" });

let tenants = 0;
const newTenant = (): string => `t${(tenants += 1)}`;

type Step =
  | { readonly kind: "writes"; readonly by: number[] }
  | { readonly kind: "large"; readonly gateway: number; readonly points: number }
  | { readonly kind: "stop" | "crash"; readonly gateway: number };

const gatewaysMax = 3;
const gateway = fc.nat({ max: gatewaysMax - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("writes"), by: fc.array(gateway, { maxLength: 40 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("large"), gateway, points: fc.integer({ min: 1, max: 700 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("stop", "crash"), gateway }) },
);

/** Takes a step; answers how many points passed, and how many each refusal asked for. */
async function take(step: Step, gateways: WriteBudget[], tenantId: string, rate: Rate) {
  const passed = (allowed: boolean, points: number) => ({
    spent: allowed ? points : 0,
    refused: allowed ? [] : [points],
  });
  switch (step.kind) {
    case "writes": {
      const verdicts = await Promise.all(step.by.map(async (index) => gateways[index]!.charge(tenantId)));
      const refused = verdicts.filter(({ allowed }) => !allowed);
      return { spent: verdicts.length - refused.length, refused: refused.map(() => 1) };
    }
    case "large": {
      const points = Math.min(step.points, rate.count - 1);
      return passed((await gateways[step.gateway]!.chargeWhole(tenantId, step.points)).allowed, points);
    }
    case "stop":
    case "crash":
      if (step.kind === "stop") await gateways[step.gateway]![Symbol.asyncDispose]();
      // The process that comes after knows nothing of the slice.
      gateways[step.gateway] = openBudget(rate);
      return { spent: 0, refused: [] };
  }
}

describe("several gateways on one budget", () => {
  const fractions = fc.constantFrom(99, 100, 137, 250, 600);

  test("let no more than all of it pass, and refuse only what would exceed nine tenths of it", async () => {
    await fc.assert(
      fc.asyncProperty(fractions, fc.array(step, { minLength: 10, maxLength: 25 }), async (count, steps) => {
        const [rate, tenantId] = [{ count, windowMs: 600_000 }, newTenant()];
        const gateways = Array.from({ length: gatewaysMax }, () => openBudget(rate));
        const heldMax = count < 100 ? 0 : Math.floor(count / 10);
        let spent = 0;
        for (const next of steps) {
          const result = await take(next, gateways, tenantId, rate);
          spent += result.spent;
          expect(spent).toBeLessThanOrEqual(count);
          for (const points of result.refused) expect(spent + points).toBeGreaterThan(count - heldMax);
          const { slices = [], used = 0 } = (await rowOf(tenantId)) ?? {};
          const held = slices.reduce((sum, { points }) => sum + points, 0);
          expect(held).toBeLessThanOrEqual(heldMax);
          expect(used).toBeGreaterThanOrEqual(spent);
          expect(used - spent).toBeLessThanOrEqual(held);
        }
      }),
      { numRuns: 30 },
    );
  });

  test("a charge that began before the first one of a window, and is applied later, starts no new window", async () => {
    const [rate, tenantId] = [{ count: 99, windowMs: 600_000 }, newTenant()];
    const budget = openBudget(rate);
    expect(await budget.charge(tenantId)).toMatchObject({ allowed: true, remaining: 98 });
    // As if the first charge had read the clock 400 ms after the second one.
    const rows = mongo.db.collection<WriteBudgetRow>("write_budgets");
    await rows.updateOne({ _id: tenantId }, [{ $set: { endsAt: { $add: ["$$NOW", rate.windowMs + 400] } } }]);
    expect(await budget.charge(tenantId)).toMatchObject({ allowed: true, remaining: 97 });
  });

  test("a budget below 100 is counted exactly, without slices", async () => {
    const [rate, tenantId] = [{ count: 99, windowMs: 600_000 }, newTenant()];
    const gateways = [openBudget(rate), openBudget(rate)];
    const verdicts = await Promise.all(
      Array.from({ length: 300 }, async (_, at) => gateways[at % 2]!.charge(tenantId)),
    );
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(99);
    expect((await rowOf(tenantId))?.slices).toEqual([]);
  });

  test("a gateway whose writes come one by one asks the store at most 30 times for a budget of 600", async () => {
    const [rate, tenantId] = [{ count: 600, windowMs: 600_000 }, newTenant()];
    const charge = vi.spyOn(store, "charge");
    const budget = openBudget(rate);
    let passed = 0;
    while ((await budget.charge(tenantId)).allowed) passed += 1;
    expect(passed).toBe(600);
    expect(charge.mock.calls.length).toBeLessThanOrEqual(30);
    charge.mockRestore();
  });

  test("a large write worth more than the whole budget passes although one write has leased a slice before", async () => {
    const [rate, tenantId] = [{ count: 600, windowMs: 600_000 }, newTenant()];
    const budget = openBudget(rate);
    await budget.charge(tenantId);
    expect((await rowOf(tenantId))?.slices).toHaveLength(1);
    expect((await budget.chargeWhole(tenantId, 5_000)).allowed).toBe(true);
    expect((await budget.charge(tenantId)).allowed).toBe(false);
  });

  test.for([99, 600])(
    "of a budget of %i, points that one gateway refunds can be spent at another a second later",
    async (count) => {
      const [rate, tenantId] = [{ count, windowMs: 600_000 }, newTenant()];
      let now = 0;
      const [first, second] = [openBudget(rate), openBudget(rate, () => now)];
      await first.charge(tenantId);
      const { endsAt } = await first.chargeWhole(tenantId, 5_000);
      expect((await second.charge(tenantId)).allowed).toBe(false);
      await first.refund(tenantId, 90, endsAt);
      now = 1_000;
      const verdicts = await Promise.all(Array.from({ length: 100 }, async () => second.charge(tenantId)));
      expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(90);
    },
  );

  test("a refund for a window that has ended is not given to the next window", async () => {
    const [rate, tenantId] = [{ count: 99, windowMs: 600_000 }, newTenant()];
    const budget = openBudget(rate);
    const { endsAt } = await budget.charge(tenantId);
    await budget.refund(tenantId, 1, new Date(endsAt!.getTime() - rate.windowMs));
    expect((await rowOf(tenantId))?.used).toBe(1);
  });

  test("a slice of a window that has ended is neither spent in the next window nor returned into it", async () => {
    const [rate, tenantId] = [{ count: 200, windowMs: 1_000 }, newTenant()];
    const [first, second] = [openBudget(rate), openBudget(rate)];
    await first.charge(tenantId);
    const ended = await rowOf(tenantId);
    await pause(1_050);
    await second.charge(tenantId);
    await store.returnSlices([{ tenantId, slice: ended!.slices[0]! }]);
    const fresh = await rowOf(tenantId);
    expect(fresh).toMatchObject({ used: 11, slices: [{ points: 10 }] });
    expect(fresh!.slices[0]!.lease).not.toBe(ended!.slices[0]!.lease);
    const charge = vi.spyOn(store, "charge");
    await first.charge(tenantId);
    expect(charge).toHaveBeenCalledOnce();
    charge.mockRestore();
  });
});

describe("a create", () => {
  test("makes no call for the write budget while the gateway holds a slice of it", async () => {
    await using edge = await openEdge({ writeBudget: { count: 1_000, windowMs: 600_000 } });
    const database = mongo.client.db(edge.gateway.config.database);
    await using profile = await openProfile(database);
    const budgetCalls = async () => (await profile.find({ ns: `${database.databaseName}.write_budgets` })).length;
    const create = async () => {
      const body = JSON.stringify({ id: crypto.randomUUID(), type: "core/tag", title: "a" });
      const headers = { ...bearer(edge.key), "content-type": "application/json" };
      return (await fetch(`${edge.gateway.url}/v1/documents`, { method: "POST", headers, body })).status;
    };
    expect(await create()).toBe(201);
    expect(await budgetCalls()).toBe(1);
    // The slice has 50 points.
    const statuses = await Promise.all(Array.from({ length: 50 }, create));
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect(await budgetCalls()).toBe(1);
    await create();
    expect(await budgetCalls()).toBe(2);
  });
});

import { expect, it } from "vitest";
import { BodyBudget, type WithBody } from "./body-budget.ts";

const bodyOf = (tenantId: string, documentId: string, bodyBytes = 10): WithBody => {
  return { tenantId, documentId, sequence: 1, bodyBytes };
};

/** How many of ten bodies of a tenant the budget admits. */
const taken = (budget: BodyBudget, tenantId: string): number =>
  Array.from({ length: 10 }, (_, n) => budget.take(bodyOf(tenantId, `${n}`))).filter(Boolean).length;

it("gives a tenant at most half of the memory", () => {
  expect(taken(new BodyBudget(100), "a")).toBe(5);
});

it("gives all tenants together at most all of the memory", () => {
  const budget = new BodyBudget(100);
  expect(["a", "b", "c"].map((tenantId) => taken(budget, tenantId))).toEqual([5, 5, 0]);
});

it("counts the shared body of several endpoints once, until the last of them has released it", () => {
  const budget = new BodyBudget(20);
  const shared = bodyOf("a", "shared");
  expect([budget.take(shared), budget.take(shared), budget.take(bodyOf("a", "other"))]).toEqual([true, true, false]);
  budget.release(shared);
  expect(budget.take(bodyOf("a", "other"))).toBe(false);
  budget.release(shared);
  expect(budget.take(bodyOf("a", "other"))).toBe(true);
});

it("admits a single body that is larger than all of the memory", () => {
  const budget = new BodyBudget(100);
  expect(budget.take(bodyOf("a", "large", 1_000))).toBe(true);
  expect(budget.take(bodyOf("b", "small"))).toBe(false);
});

it("has no capacity for a tenant's next claim until the bodies of the claim before are released", () => {
  const budget = new BodyBudget(80);
  expect(budget.hasCapacity("a")).toBe(true);
  {
    using held = budget.hold();
    for (const documentId of ["1", "2", "3", "4"]) expect(held.take(bodyOf("a", documentId))).toBe(true);
    expect(held.take(bodyOf("a", "5"))).toBe(false);
    expect(budget.hasCapacity("a")).toBe(false);
  }
  expect(budget.hasCapacity("a")).toBe(true);
});

import { expect, test } from "vitest";
import { createPortRule } from "./port-rules.ts";

test("ports of the list and of its ranges may be dialled, others not", () => {
  const rule = createPortRule("443, 8000-8002");
  expect([443, 8000, 8002].map(rule)).toEqual([true, true, true]);
  expect([80, 442, 444, 7999, 8003, 0].map(rule)).toEqual([false, false, false, false, false, false]);
});

test.each(["", "443,", "0", "65536", "9-8", "1-", "https", "4 43", "-1"])("%j is no list of ports", (list) => {
  expect(() => createPortRule(list)).toThrow("must be a list of ports and ranges");
});

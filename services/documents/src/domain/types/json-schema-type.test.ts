import { expect, test } from "vitest";
import type { Tier } from "./document-type.ts";
import { schemaCheck } from "./json-schema-type.ts";

const schemas = { shape: { required: ["title"] }, complete: { properties: { meta: { required: ["a", "b"] } } } };
const document = { title: "T", meta: {}, content: {}, links: [] };

/** How many faults were known at the end of each step of a check. */
function stepsOf(check: ReturnType<typeof schemaCheck>, tier: Tier): (number | undefined)[] {
  const steps: (number | undefined)[] = [];
  check(document, tier, (found) => void steps.push(found?.length));
  return steps;
}

test("progress is called after each compilation, and with the faults so far after each check but the last", () => {
  expect(stepsOf(schemaCheck(schemas), "shape")).toEqual([undefined]);
  expect(stepsOf(schemaCheck(schemas), "publication")).toEqual([undefined, 0, undefined, 1, undefined]);
});

test("progress gets the shape faults of a large document before its check for publication", () => {
  const large = { ...document, title: undefined, content: { text: "x".repeat(70_000) } } as unknown as typeof document;
  const told: (number | undefined)[] = [];
  schemaCheck(schemas)(large, "publication", (found) => void told.push(found?.length));
  expect(told).toEqual([undefined, 1, undefined]);
});

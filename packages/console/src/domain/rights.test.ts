import { expect, test } from "vitest";
import { roleFor } from "./rights.ts";

test.each([
  ["keys", ["owner"], "owner"],
  ["keys", ["editor", "admin"], "admin"],
  ["endpoints", ["integrator", "writer"], "integrator"],
  ["member", ["writer", "integrator"], "integrator"],
] as const)("for the right %j a member with the roles %j acts as %s", (right, roles, expected) => {
  expect(roleFor(right, roles)).toBe(expected);
});

test.each([
  [["integrator"], "keys"],
  [["admin"], "change members"],
] as const)("a member with the roles %j does not have the right %j", (roles, right) => {
  expect(roleFor(right, roles)).toBeUndefined();
});

test('for the right "member" a member without a role of the platform acts in no role', () => {
  expect(roleFor("member", ["writer"])).toBe("");
});

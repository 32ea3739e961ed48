import { expect, test } from "vitest";
import { roleFor } from "./rights.ts";

test.each([
  ["keys", ["owner"], "owner"],
  ["keys", ["editor", "admin"], "admin"],
  ["keys", ["integrator"], undefined],
  ["endpoints", ["integrator", "writer"], "integrator"],
  ["change members", ["admin"], undefined],
  ["member", ["writer"], ""],
  ["member", ["writer", "integrator"], "integrator"],
] as const)("for the right %s a member with the roles %j acts as %s", (right, roles, expected) => {
  expect(roleFor(right, roles)).toBe(expected);
});

import { expect, test } from "vitest";
import { parseUuid, requireTenantId, uuidv7 } from "./ids.ts";

test("each of 50,000 UUIDv7 made in a row is greater than the one before", () => {
  const ids = Array.from({ length: 50_000 }, uuidv7);
  for (const [index, id] of ids.entries()) if (index > 0 && id <= (ids[index - 1] ?? "")) expect.fail(`${id} is late`);
});

/** The first and the last of 50,000 UUIDv7 made in a row. */
function makeMany(): [string, string] {
  const ids = Array.from({ length: 50_000 }, uuidv7);
  return [ids[0] ?? "", ids.at(-1) ?? ""];
}

test("the first and last of 50,000 UUIDv7 have the form that RFC 9562 demands", () => {
  for (const id of makeMany()) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(parseUuid(id)).toBe(id);
  }
});

test("the first and last of 50,000 UUIDv7 name a time from their start to 50 ms after their end", () => {
  const before = Date.now();
  for (const id of makeMany()) {
    const ms = Number.parseInt(id.replace("-", "").slice(0, 12), 16);
    expect(ms).toBeGreaterThanOrEqual(before);
    expect(ms).toBeLessThanOrEqual(Date.now() + 50);
  }
});

test("requireTenantId returns a tenant id unchanged", () => {
  for (const id of ["a", "demo", "a_1", "a".repeat(32)]) expect(requireTenantId(id)).toBe(id);
});

test("requireTenantId refuses a malformed tenant id as `invalid` at /tenantId", () => {
  for (const text of ["", "1a", "_a", "A", "a-b", "a.b", "a\n", "a".repeat(33)]) {
    expect(() => requireTenantId(text), text).toThrow(
      expect.objectContaining({ kind: "invalid", violations: [expect.objectContaining({ pointer: "/tenantId" })] }),
    );
  }
});

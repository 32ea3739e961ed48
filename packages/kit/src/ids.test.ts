import { expect, test } from "vitest";
import { parseUuid, requireTenantId, uuidv7 } from "./ids.ts";

test("each of 50,000 UUIDv7 made in a row is greater than the one before", () => {
  const ids = Array.from({ length: 50_000 }, uuidv7);
  for (const [index, id] of ids.entries()) if (index > 0 && id <= (ids[index - 1] ?? "")) expect.fail(`${id} is late`);
});

test("the first and last of 50,000 UUIDv7 fit RFC 9562, and their time is at most 50 ms ahead", () => {
  const before = Date.now();
  const ids = Array.from({ length: 50_000 }, uuidv7);
  for (const id of [ids[0] ?? "", ids.at(-1) ?? ""]) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(parseUuid(id)).toBe(id);
    const ms = Number.parseInt(id.replace("-", "").slice(0, 12), 16);
    expect(ms).toBeGreaterThanOrEqual(before);
    expect(ms).toBeLessThanOrEqual(Date.now() + 50);
  }
});

test("requireTenantId returns a tenant id, and refuses a malformed one as `invalid` at /tenantId", () => {
  for (const id of ["a", "demo", "a_1", "a".repeat(32)]) expect(requireTenantId(id)).toBe(id);
  for (const text of ["", "1a", "_a", "A", "a-b", "a.b", "a\n", "a".repeat(33)]) {
    expect(() => requireTenantId(text), text).toThrow(
      expect.objectContaining({ kind: "invalid", violations: [expect.objectContaining({ pointer: "/tenantId" })] }),
    );
  }
});

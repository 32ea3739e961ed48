import { expect, test } from "vitest";
import { parseUuid, uuidv7 } from "./uuid.ts";

test("a UUIDv7 is greater than every earlier one, however many a millisecond makes", () => {
  const before = Date.now();
  const ids = Array.from({ length: 50_000 }, uuidv7);
  for (const [index, id] of ids.entries()) if (index > 0 && id <= (ids[index - 1] ?? "")) expect.fail(`${id} is late`);
  for (const id of [ids[0] ?? "", ids.at(-1) ?? ""]) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(parseUuid(id)).toBe(id);
    const ms = Number.parseInt(id.replace("-", "").slice(0, 12), 16);
    expect(ms).toBeGreaterThanOrEqual(before);
    expect(ms).toBeLessThanOrEqual(Date.now() + 50);
  }
});

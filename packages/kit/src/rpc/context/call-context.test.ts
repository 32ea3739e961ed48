import { describe, expect, it } from "vitest";
import { newTraceparent, readTraceparent } from "./call-context.ts";

describe("a traceparent", () => {
  it("that is made anew is well formed", () => {
    const made = Array.from({ length: 1_000 }, newTraceparent);
    for (const traceparent of made) expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });

  it("that is made anew differs from a thousand others", () => {
    expect(new Set(Array.from({ length: 1_001 }, newTraceparent)).size).toBe(1_001);
  });

  it("is kept when it is well formed, and replaced when it is missing or malformed", () => {
    const theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    expect(readTraceparent(theirs)).toBe(theirs);
    for (const malformed of [undefined, "00-short-01", theirs.replace(/(?<=^00-)\w+/, "0".repeat(32))]) {
      expect(readTraceparent(malformed)).toMatch(/^00-(?!0{32})[0-9a-f]{32}-/);
    }
  });
});

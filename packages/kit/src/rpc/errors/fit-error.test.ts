import { expect, test } from "vitest";
import { fitError } from "./fit-error.ts";

test("an error that fits into gRPC trailers is unchanged", () => {
  const error = { message: "no", violations: [{ pointer: "/a", message: "wrong", line: 7 }], metadata: { role: "x" } };
  expect(fitError(error)).toEqual(error);
});

test("an error that quotes huge, malformed text is shortened to under 12 kB of well-formed text", () => {
  const long = "😀".repeat(100_000);
  const violations = Array.from({ length: 1_000 }, (_, index) => ({
    pointer: `/${index}${long}`,
    message: `x${long}`,
  }));
  const fitted = fitError({ message: `\ud800${long}`, violations, metadata: { role: long, guard: "fourEyes" } });
  expect(fitted.metadata).toEqual({ guard: "fourEyes" });
  expect(fitted.violations.length).toBeGreaterThan(5);
  expect(fitted.violations[1]?.pointer).toMatch(/^\/1😀+…$/u);
  const text = JSON.stringify(fitted);
  expect(Buffer.byteLength(text)).toBeLessThan(12_000);
  expect(
    [fitted.message, ...fitted.violations.flatMap(({ pointer, message }) => [pointer, message])].every((part) =>
      part.isWellFormed(),
    ),
  ).toBe(true);
});

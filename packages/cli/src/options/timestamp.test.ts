import { expect, test } from "vitest";
import { timestamp } from "./timestamp.ts";

test.each([
  ["2026-11-22", 1_795_305_600, 0],
  ["2026-11-22T06:00:00.5", 1_795_327_200, 500_000_000],
  ["2026-11-22T06:00:00+01:00", 1_795_323_600, 0],
  ["2026-11-22 06:00:00+01:00", 1_795_323_600, 0],
  ["2026-11-22T06:00:00+01:00:00", 1_795_323_600, 0],
  ["1969-12-31T23:59:59.25Z", -1, 250_000_000],
])("%s is read as %s s and %s ns from the start of 1970 in UTC", (text, seconds, nanos) => {
  expect(timestamp(text)).toEqual({ seconds: BigInt(seconds), nanos });
});

test.each(["", "yesterday", "2026-02-30", "1795305600", "2026-11-22T06:00:00[Europe/Paris]"])(
  "the time %j is refused, and the message asks for a date or a time",
  (text) => {
    expect(() => timestamp(text)).toThrow("must be a date or a time");
  },
);

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { readUtc } from "./utc-field.ts";

test.each(["2026-02-31T10:00", "2026-04-31T10:00", "2026-13-01T10:00", "2026-01-01T24:01", "2026-01-01"])(
  "%s is no time",
  (text) => expect(readUtc(text)).toBe("malformed"),
);

test("a time on a leap day is read as an instant in UTC", () => {
  const read = readUtc("2028-02-29T23:59");
  expect(typeof read === "object" && timestampDate(read).toISOString()).toBe("2028-02-29T23:59:00.000Z");
});

import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { isAccepted, outcomeOf, tookOf } from "./outcome.ts";

test.each([
  [503, "", "503 Service Unavailable"],
  [599, "", "599"],
  [0, "timeout", "timed out"],
  [0, "address_refused", "address not allowed"],
  [0, "new_failure", "new_failure"],
])("the result of an attempt with status %i and failure %j is %j", (status, failure, result) => {
  expect(outcomeOf({ status, failure })).toBe(result);
});

test.each([200, 299])("an attempt with status %i is accepted", (status) => {
  expect(isAccepted({ status })).toBe(true);
});

test.each([0, 199, 300])("an attempt with status %i is not accepted", (status) => {
  expect(isAccepted({ status })).toBe(false);
});

test.each([
  [80.6, "81 ms"],
  [999.4, "999 ms"],
  [999.6, "1.0 s"],
  [10_240, "10.2 s"],
])("the duration of an attempt of %d ms is shown as %j", (ms, shown) => {
  expect(tookOf({ status: 200, failure: "", took: durationFromMs(ms) })).toBe(shown);
});

test("a missing duration of an attempt is shown as 0 ms", () => {
  expect(tookOf({ status: 0, failure: "dns" })).toBe("0 ms");
});

import { expect, test } from "vitest";
import { checkClock } from "./check-clock.ts";

test.each([
  [0, "ok", "within 5 s"],
  [-4_999, "ok", "within 5 s"],
  [5_000, "warning", "5.0 s ahead of"],
  [-299_000, "warning", "299.0 s behind"],
  [300_000, "broken", "300.0 s ahead of"],
  [-86_400_000, "broken", "86400.0 s behind"],
])("the finding about a clock that is off by %s ms has the status %s", (skewMs, status, words) => {
  expect(checkClock("mongodb", skewMs)).toMatchObject({
    check: "clock of mongodb",
    status,
    finding: expect.stringContaining(words),
  });
});

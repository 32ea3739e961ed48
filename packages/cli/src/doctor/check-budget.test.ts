import { expect, test } from "vitest";
import { checkBudget } from "./check-budget.ts";

function check(status: number, left: number, quota = 3000) {
  const headers = new Headers({
    ratelimit: `"writes";r=${left};t=41`,
    "ratelimit-policy": `"writes";q=${quota};w=60`,
  });
  const found = checkBudget(status, headers);
  return found && [found.status, found.finding];
}

test.each([
  [400, 2_999, "ok"],
  [400, 300, "ok"],
  [400, 299, "warning"],
  [429, 0, "warning"],
])("the finding about a %s with %s of 3000 writes left has the status %s", (status, left, expected) => {
  expect(check(status, left)).toEqual([expected, `${left} of 3000 writes left in 60 s`]);
});

test("a 400 whose headers have no write budget means that none is set", () => {
  expect(checkBudget(400, new Headers())).toMatchObject({ status: "ok", finding: "none is set" });
});

test("a 429 whose headers have no write budget gives no finding", () => {
  const headers = new Headers({ ratelimit: '"ip";r=0;t=9', "ratelimit-policy": '"ip";q=3000;w=60' });
  expect(checkBudget(429, headers)).toBeUndefined();
});

test("the write budget is found beside another limit in the headers", () => {
  const headers = new Headers({
    ratelimit: '"ip";r=1;t=9, "writes";r=7;t=3',
    "ratelimit-policy": '"ip";q=10;w=60, "writes";q=10;w=5',
  });
  expect(checkBudget(400, headers)).toMatchObject({ finding: "7 of 10 writes left in 5 s" });
});

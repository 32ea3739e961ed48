import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CountDeliveriesResponseSchema } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { expect, test } from "vitest";
import { deliveriesByHour } from "./deliveries-by-hour.ts";

const states = ["pending", "held", "delivered", "superseded", "exhausted"];

/** Numbers of an hour's delivered deliveries, and of those that were given up. */
type Hour = readonly [delivered: number, exhausted: number];

/** An answer with these hours. */
function counted(...hours: readonly Hour[]) {
  return create(CountDeliveriesResponseSchema, {
    hours: hours.map(([delivered, exhausted], at) => ({
      start: timestampFromDate(new Date(Date.UTC(2026, 10, 25, at))),
      counts: states.map((state) => {
        const count = state === "delivered" ? delivered : state === "exhausted" ? exhausted : 0;
        return { state, count, hasMore: count === 10_000 };
      }),
    })),
  });
}

const drawn = String(deliveriesByHour(counted([0, 0], [1, 0], [900, 100])));

/** The bars of a class, each as `x y height`. */
const barsOf = (kind: "d" | "f") =>
  Array.from(
    drawn.matchAll(new RegExp(`class="${kind}" x="(\\d+)" y="(\\d+)" width="18" height="(\\d+)"`, "g")),
    ([, ...figures]) => figures.join(" "),
  );

test("the tallest bar is that of the busiest hour", () => {
  expect(barsOf("d")).toEqual(["0 70 0", "26 68 2", "52 0 70"]);
});

test("deliveries that were given up are drawn at the top of the bar of their hour", () => {
  expect(barsOf("f")).toEqual(["52 0 7"]);
});

test("the label of the drawing counts what was delivered and what was given up", () => {
  expect(drawn).toContain('aria-label="Deliveries an hour: 901 delivered, 100 given up"');
});

/** The numbers in the rows of the table. */
const rowsOf = (...hours: readonly Hour[]) =>
  String(deliveriesByHour(counted(...hours)))
    .split("<tr>")
    .slice(2)
    .map((row) => Array.from(row.matchAll(/<div>([^<]*)<\/div>/g), ([, text]) => text));

test("the table has every hour and state, the newest hour first", () => {
  expect(rowsOf([9, 1], [3, 0])).toEqual([
    ["0", "0", "3", "0", "0"],
    ["0", "0", "9", "0", "1"],
  ]);
});

test("a count that stopped at 10,000 has a + in the table", () => {
  expect(rowsOf([10_000, 0])).toEqual([["0", "0", "10,000+", "0", "0"]]);
});

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CountDeliveriesResponseSchema } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { expect, test } from "vitest";
import { deliveriesByHour } from "./deliveries-by-hour.ts";

const states = ["pending", "held", "delivered", "superseded", "exhausted"];

/** An answer with these numbers of delivered and of given up deliveries, by hour. */
function counted(...hours: readonly (readonly [delivered: number, exhausted: number])[]) {
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

test("the tallest bar is the busiest hour, and an hour's failed deliveries are on top of its bar", () => {
  const drawn = String(deliveriesByHour(counted([0, 0], [1, 0], [900, 100])));
  const bars = drawn.matchAll(/class="(d|f)" x="(\d+)" y="(\d+)" width="18" height="(\d+)"/g).toArray();
  expect(bars.map(([, ...figures]) => figures.join(" "))).toEqual(["d 0 70 0", "d 26 68 2", "d 52 0 70", "f 52 0 7"]);
  expect(drawn).toContain('aria-label="Deliveries an hour: 901 delivered, 100 given up"');
});

test("the table has every hour and state, newest first, and a + after a count that stopped at 10,000", () => {
  const rows = String(deliveriesByHour(counted([10_000, 0], [3, 0])))
    .split("<tr>")
    .slice(2);
  expect(
    rows.map((row) =>
      row
        .matchAll(/<div>([^<]*)<\/div>/g)
        .toArray()
        .map(([, text]) => text),
    ),
  ).toEqual([
    ["0", "0", "3", "0", "0"],
    ["0", "0", "10,000+", "0", "0"],
  ]);
});

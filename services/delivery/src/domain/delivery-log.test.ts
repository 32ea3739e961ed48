import { expect, test } from "vitest";
import { type SignedDelivery, tellingDelivery } from "./delivery-log.ts";

const delivered: SignedDelivery = { signingNumber: 1, state: "delivered" };
const again: SignedDelivery = { signingNumber: 2, state: "exhausted" };
const third: SignedDelivery = { signingNumber: 3, state: "delivered", endedReplayId: "r" };

test("the telling delivery of a snapshot is the pending one, else that with the newest signature", () => {
  expect(tellingDelivery([])).toBeUndefined();
  expect(tellingDelivery([delivered, again])).toBe(again);
  expect(tellingDelivery([again, third, delivered])).toBe(third);
  const waiting: SignedDelivery = { signingNumber: 2, state: "pending" };
  expect(tellingDelivery([third, waiting, delivered])).toBe(waiting);
});

import { expect, it } from "vitest";
import { AttemptSlots } from "./attempt-slots.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";

const waitingQueue = (tenantId: string, readyCount = 1) => ({ tenantId, readyCount }) as EndpointQueue;

it("among queues with lanes, the next is the one waiting longest whose tenant has a free slot", () => {
  const slots = new AttemptSlots();
  slots.take("large", 512);
  slots.take("small", 1);
  const [drained, ofLarge, first, second] = [
    waitingQueue("small", 0),
    waitingQueue("large"),
    waitingQueue("small"),
    waitingQueue("small"),
  ];
  for (const queue of [drained, ofLarge, first, second]) slots.wait(queue);
  slots.free("small");
  expect([slots.next(), slots.next(), slots.next()]).toEqual([first, second, undefined]);
  slots.free("large");
  expect(slots.next()).toBe(ofLarge);
});

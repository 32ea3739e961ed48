import { expect, it } from "vitest";
import { AttemptSlots } from "./attempt-slots.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";

const waitingQueue = (tenantId: string, readyCount = 1) => ({ tenantId, readyCount }) as EndpointQueue;

it("a freed slot goes to the queue that has waited longest of those whose tenant may use it", () => {
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

import type { FastifyReply, FastifyRequest } from "fastify";
import { EventEmitter } from "node:events";
import { Registry } from "prom-client";
import { expect, test, vi } from "vitest";
import { openPools } from "./pools.ts";
import { LongPollLimiter } from "./long-poll-limiter.ts";

function exchange(tenantId = "acme") {
  const raw = Object.assign(new EventEmitter(), { destroyed: false });
  const request = { caller: { tenantId }, startedAt: 100, pausedAt: undefined };
  const slot = { held: true };
  return {
    request: request as unknown as FastifyRequest,
    reply: { raw } as unknown as FastifyReply,
    releaseSlot: () => {
      slot.held = false;
    },
    slot,
    leave: () => {
      raw.destroyed = true;
      raw.emit("close");
    },
  };
}

/** Never answers, and fails when its signal aborts, as RPC calls do. */
function never(signal: AbortSignal): Promise<string> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")));
  });
}

const open = (longPolls = 8) => new LongPollLimiter(openPools(new Registry(), { longPolls }).longPolls);

function poll(limiter: LongPollLimiter, polling: ReturnType<typeof exchange>, work = never) {
  return limiter.run(polling, (wait) => wait(work));
}

test("a poll holds no slot while it waits", async () => {
  const waiting = exchange();
  const until = Promise.withResolvers<string>();
  const result = poll(open(), waiting, () => until.promise);
  expect(waiting.slot.held).toBe(false);
  until.resolve("news");
  expect(await result).toBe("news");
});

test("the time that a poll waits does not count as time of its request", async () => {
  const waiting = exchange();
  const until = Promise.withResolvers<string>();
  const result = poll(open(), waiting, () => until.promise);
  const { pausedAt = 0 } = waiting.request;
  until.resolve("news");
  await result;
  expect(waiting.request.pausedAt).toBeUndefined();
  expect(waiting.request.startedAt).toBeGreaterThan(100);
  expect(waiting.request.startedAt).toBeLessThanOrEqual(100 + performance.now() - pausedAt);
});

test("a poll whose client leaves ends and leaves its capacity to the next poll", async () => {
  const limiter = open(2);
  const waiting = exchange();
  const result = poll(limiter, waiting);
  waiting.leave();
  expect(await result).toBeUndefined();
  expect(await poll(limiter, exchange(), async () => "news")).toBe("news");
});

test("a poll whose client is gone already does not wait, and leaves its capacity to the next poll", async () => {
  const limiter = open(2);
  const gone = exchange();
  gone.leave();
  expect(await poll(limiter, gone)).toBeUndefined();
  expect(await poll(limiter, exchange(), async () => "news")).toBe("news");
});

test("closing the limiter ends every wait", async () => {
  const limiter = open();
  const results = [poll(limiter, exchange()), poll(limiter, exchange("rival"))];
  limiter.close();
  expect(await Promise.all(results)).toEqual([undefined, undefined]);
});

test("a closed limiter refuses polls", async () => {
  const limiter = open();
  limiter.close();
  await expect(poll(limiter, exchange())).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("a poll beyond its tenant's share is refused with RATE_LIMITED before it begins", async () => {
  const limiter = open(4);
  const waiting = [poll(limiter, exchange()), poll(limiter, exchange())];
  const begin = vi.fn<() => Promise<void>>();
  await expect(limiter.run(exchange(), begin)).rejects.toMatchObject({
    code: "RATE_LIMITED",
    message: "The tenant's share of the requests that wait for changes, 2 requests, is in use; retry in 1 s",
  });
  expect(begin).not.toHaveBeenCalled();
  limiter.close();
  await Promise.all(waiting);
});

test("a poll is refused with UNAVAILABLE before it begins when other tenants have the whole pool", async () => {
  const limiter = open(4);
  const waiting = ["acme", "acme", "rival", "rival"].map((tenantId) => poll(limiter, exchange(tenantId)));
  const begin = vi.fn<() => Promise<void>>();
  await expect(limiter.run(exchange("third"), begin)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(begin).not.toHaveBeenCalled();
  limiter.close();
  await Promise.all(waiting);
});

test("a poll whose work fails rejects with the failure and leaves its capacity to the next poll", async () => {
  const limiter = open(2);
  for (let times = 0; times < 3; times += 1) {
    await expect(poll(limiter, exchange(), () => Promise.reject(new Error("down")))).rejects.toThrow("down");
  }
});

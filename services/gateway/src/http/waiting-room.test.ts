import type { FastifyReply, FastifyRequest } from "fastify";
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { WaitingRoom } from "./waiting-room.ts";

function exchange(tenantId = "acme") {
  const raw = Object.assign(new EventEmitter(), { destroyed: false });
  const request = { caller: { tenantId }, startedAt: 100, pausedAt: undefined };
  return {
    request: request as unknown as FastifyRequest,
    reply: { raw } as unknown as FastifyReply,
    leave: () => {
      raw.destroyed = true;
      raw.emit("close");
    },
  };
}

/** Fails when its signal aborts, as calls do. */
function never(signal: AbortSignal): Promise<string> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")));
  });
}

function enter(room: WaitingRoom, { request, reply }: ReturnType<typeof exchange>, work = never) {
  return room.wait(request, reply, work);
}

test("what is waited for comes back, and the time it took is not the request's", async () => {
  const room = new WaitingRoom();
  const waiting = exchange();
  const until = Promise.withResolvers<string>();
  const result = enter(room, waiting, () => until.promise);
  const { pausedAt = 0 } = waiting.request;
  expect(room.taken).toBe(1);
  until.resolve("news");
  expect(await result).toBe("news");
  expect(waiting.request.pausedAt).toBeUndefined();
  expect(waiting.request.startedAt).toBeGreaterThan(100);
  expect(waiting.request.startedAt).toBeLessThanOrEqual(100 + performance.now() - pausedAt);
  expect(room.taken).toBe(0);
});

test("a client that goes away, or was gone, frees its place", async () => {
  const room = new WaitingRoom();
  const waiting = exchange();
  const result = enter(room, waiting);
  waiting.leave();
  expect(await result).toBeUndefined();
  expect(room.taken).toBe(0);
  expect(await enter(room, waiting)).toBeUndefined();
});

test("closing ends every wait, and no other begins", async () => {
  const room = new WaitingRoom();
  const results = [enter(room, exchange()), enter(room, exchange("rival"))];
  room.close();
  expect(await Promise.all(results)).toEqual([undefined, undefined]);
  expect(await enter(room, exchange())).toBeUndefined();
});

test("a tenant that has all its places leaves the others theirs, until there are none", async () => {
  const room = new WaitingRoom({ placesMax: 3, tenantPlacesMax: 2 });
  const waiting = [enter(room, exchange()), enter(room, exchange())];
  expect(await enter(room, exchange())).toBeUndefined();
  waiting.push(enter(room, exchange("rival")));
  expect(room.taken).toBe(3);
  expect(await enter(room, exchange("third"))).toBeUndefined();
  room.close();
  await Promise.all(waiting);
});

test("what fails for another reason is thrown", async () => {
  const failing = enter(new WaitingRoom(), exchange(), () => Promise.reject(new Error("down")));
  await expect(failing).rejects.toThrow("down");
});

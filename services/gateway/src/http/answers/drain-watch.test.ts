import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { Counter, Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DrainWatch } from "./drain-watch.ts";

const kib = 1024;
let cut: Counter<"reason">;
let watch: DrainWatch;

beforeEach(() => {
  vi.useFakeTimers();
  cut = new Counter({ name: "cut", help: "cut", labelNames: ["reason"], registers: [new Registry()] });
  watch = new DrainWatch(cut);
});

afterEach(() => {
  watch[Symbol.dispose]();
  vi.useRealTimers();
});

/** An answer that waits for its reader, and its socket. */
function answer() {
  const socket = { bytesWritten: 0, writableLength: 0, cut: false, resetAndDestroy: () => void (socket.cut = true) };
  const flags = { writableNeedDrain: true, writableEnded: false, writableFinished: false };
  const raw = Object.assign(new EventEmitter(), { ...flags, socket, req: { socket } });
  return { response: raw as unknown as ServerResponse, raw, socket };
}

/** An answer behind others of its connection. `begin` gives it the socket. */
function queued() {
  const { response, raw, socket } = answer();
  Object.assign(raw, { socket: null });
  const begin = () => {
    Object.assign(raw, { socket });
    raw.emit("socket", socket);
  };
  return { response, socket, begin };
}

const reasons = async () => (await cut.get()).values.map(({ labels, value }) => [labels.reason, value]);

async function seconds(count: number, each: () => void = () => {}): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    each();
    await vi.advanceTimersByTimeAsync(1_000);
  }
}

test("an answer that is not taken at all is cut after ten seconds", async () => {
  const { response, socket } = answer();
  watch.watch(response, 600_000);
  await seconds(10);
  expect(socket.cut).toBe(false);
  await seconds(1);
  expect(socket.cut).toBe(true);
  expect(await reasons()).toEqual([["slow", 1]]);
});

test.each([
  ["evenly", 1],
  ["in a jump every 60 s", 60],
])("an answer that is taken at 16 KiB/s, %s, is not cut", async (_, everySeconds) => {
  const { response, socket } = answer();
  watch.watch(response, 600_000);
  let second = 0;
  await seconds(300, () => {
    if (second % everySeconds === 0) socket.bytesWritten += everySeconds * 16 * kib;
    second += 1;
  });
  expect(socket.cut).toBe(false);
});

test("an answer that is taken at 12 KiB/s is cut", async () => {
  const { response, socket } = answer();
  watch.watch(response, 600_000);
  await seconds(50, () => (socket.bytesWritten += 12 * kib));
  expect(socket.cut).toBe(true);
});

test("an answer is cut when its reader takes much at first and then nothing for 66 seconds", async () => {
  const { response, socket } = answer();
  watch.watch(response, 600_000);
  socket.bytesWritten = 100 * kib * kib;
  await seconds(66);
  expect(socket.cut).toBe(true);
});

test("an answer that waits for its source, not for its reader, is not cut", async () => {
  const { response, raw, socket } = answer();
  raw.writableNeedDrain = false;
  watch.watch(response, 600_000);
  await seconds(120);
  expect(socket.cut).toBe(false);
});

test("an answer is cut at its deadline, unless it has ended before", async () => {
  const [late, over] = [answer(), answer()];
  watch.watch(late.response, 60_000);
  watch.watch(over.response, 60_000);
  const take = ({ socket }: ReturnType<typeof answer>) => (socket.bytesWritten += 64 * kib);
  await seconds(30, () => [late, over].map(take));
  over.response.emit("close");
  await seconds(29, () => take(late));
  expect(late.socket.cut).toBe(false);
  await seconds(2, () => take(late));
  expect([late.socket.cut, over.socket.cut]).toEqual([true, false]);
  expect(await reasons()).toEqual([["late", 1]]);
});

test("a pipelined answer whose reader takes only the earlier answers is cut in its turn, not before", async () => {
  const { response, socket, begin } = queued();
  watch.watch(response, 600_000);
  await seconds(70);
  expect(socket.cut).toBe(false);
  socket.bytesWritten = 100 * kib * kib;
  begin();
  await seconds(10);
  expect(socket.cut).toBe(false);
  await seconds(66);
  expect(socket.cut).toBe(true);
  expect(await reasons()).toEqual([["slow", 1]]);
});

test("a pipelined answer is cut at its deadline, which counts from its turn", async () => {
  const { response, socket, begin } = queued();
  watch.watch(response, 60_000);
  await seconds(30);
  begin();
  const take = () => (socket.bytesWritten += 64 * kib);
  await seconds(59, take);
  expect(socket.cut).toBe(false);
  await seconds(2, take);
  expect(await reasons()).toEqual([["late", 1]]);
});

test("a pipelined answer is cut when its reader does not take a small unwatched answer before it", async () => {
  const { response, socket } = queued();
  socket.writableLength = 10 * kib;
  watch.watch(response, 60_000);
  await seconds(11);
  expect(socket.cut).toBe(true);
});

test("bytes that a reader took before an answer was watched do not count for that answer", async () => {
  const { response, socket } = answer();
  socket.bytesWritten = 100 * kib * kib;
  watch.watch(response, 60_000);
  await seconds(11);
  expect(socket.cut).toBe(true);
});

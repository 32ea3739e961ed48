import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { sleepAloud } from "./sleep-aloud.ts";

function open({ isTTY = false } = {}) {
  const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY });
  const sleep = vi.fn(async () => undefined);
  const stdout = new PassThrough();
  const world = { env: {}, cwd: "/", home: "/", user: "kari", stdin: new PassThrough(), stdout, stderr, sleep };
  return { sleepAloud: sleepAloud(world), sleep, said: () => (stderr.read() as string | null) ?? "" };
}

test("a long pause is explained, a short one is not, and both are taken in full", async () => {
  const { sleepAloud, sleep, said } = open();
  await sleepAloud(4_000);
  expect(said()).toBe("");
  await sleepAloud(8_400);
  expect(said()).toBe("the platform asks to come back in 9 s: waiting\n");
  expect(sleep.mock.calls).toEqual([[4_000], [8_400]]);
});

test("of requests that wait at the same time, one speaks for all", async () => {
  const { sleepAloud, sleep, said } = open();
  await Promise.all(Array.from({ length: 8 }, () => sleepAloud(30_000)));
  expect(said().split("\n")).toHaveLength(2);
  expect(sleep).toHaveBeenCalledTimes(8);
  await sleepAloud(60_000);
  expect(said()).toContain("60 s");
});

test("on a terminal the words take the place of a progress bar", async () => {
  const { sleepAloud, said } = open({ isTTY: true });
  await sleepAloud(5_000);
  expect(said()).toBe("\r\u001b[Kthe platform asks to come back in 5 s: waiting\n");
});

import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { announcedSleep } from "./announced-sleep.ts";

function open({ isTTY = false } = {}) {
  const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY });
  const sleep = vi.fn(async () => undefined);
  const stdout = new PassThrough();
  const world = { env: {}, cwd: "/", home: "/", user: "kari", stdin: new PassThrough(), stdout, stderr, sleep };
  return { announcedSleep: announcedSleep(world), sleep, said: () => (stderr.read() as string | null) ?? "" };
}

test("only a pause of 5 s or more is announced", async () => {
  const { announcedSleep, said } = open();
  await announcedSleep(4_999);
  expect(said()).toBe("");
  await announcedSleep(5_000);
  expect(said()).toBe("the platform asks to come back in 5 s: waiting\n");
});

test("a pause is slept in full, whether it is announced or not", async () => {
  const { announcedSleep, sleep } = open();
  await announcedSleep(4_000);
  await announcedSleep(8_400);
  expect(sleep.mock.calls).toEqual([[4_000], [8_400]]);
});

test("eight pauses at the same time are announced by one line", async () => {
  const { announcedSleep, sleep, said } = open();
  await Promise.all(Array.from({ length: 8 }, () => announcedSleep(30_000)));
  expect(said().split("\n")).toHaveLength(2);
  expect(sleep).toHaveBeenCalledTimes(8);
});

test("a pause that ends later than the announced one is announced, too", async () => {
  const { announcedSleep, said } = open();
  await announcedSleep(30_000);
  await announcedSleep(60_000);
  expect(said()).toContain("60 s");
});

test("on a terminal the announcement first clears its line, where a progress bar may be", async () => {
  const { announcedSleep, said } = open({ isTTY: true });
  await announcedSleep(5_000);
  expect(said()).toBe("\r\u001b[Kthe platform asks to come back in 5 s: waiting\n");
});

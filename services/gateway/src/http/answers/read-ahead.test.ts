import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { Answer } from "./answer.ts";
import { readAhead } from "./read-ahead.ts";

const kib = 1024;

/**
 * A stream of `count` KiB that then fails with `fault`, if one is given. `state` says how many KiB
 * were read, and whether the stream has ended.
 */
function source(count: number, fault?: Error) {
  const state = { taken: 0, ended: false };
  async function* stream() {
    try {
      while (state.taken < count) {
        state.taken += 1;
        yield Buffer.alloc(kib, String.fromCodePoint(97 + (state.taken % 26)));
      }
      if (fault) throw fault;
    } finally {
      state.ended = true;
    }
  }
  return { state, answer: { status: 200, headers: { etag: "x" }, body: stream } satisfies Answer };
}

const all = (count: number) => buffer(source(count).answer.body());

function streamOf({ body }: Answer): AsyncIterable<Uint8Array> {
  if (typeof body !== "function") throw new Error("the answer is not a stream");
  return body();
}

test.each([0, 1, 63])("a stream of %i KiB becomes a buffered answer", async (count) => {
  const begun = await readAhead(source(count).answer);
  expect(begun).toEqual({ status: 200, headers: { etag: "x" }, body: await all(count) });
});

test.each([64, 65, 1_000])("of a stream of %i KiB at most 64 KiB are read ahead", async (count) => {
  const { state, answer } = source(count);
  await readAhead(answer);
  expect(state.taken).toBeLessThanOrEqual(64);
});

test.each([64, 65, 1_000])("a stream of %i KiB that was read ahead still yields all its bytes", async (count) => {
  const begun = await readAhead(source(count).answer);
  expect((await buffer(streamOf(begun))).equals(await all(count))).toBe(true);
});

const fault = new Error("no further");

test("a fault in the beginning of a stream is thrown", async () => {
  await expect(readAhead(source(63, fault).answer)).rejects.toThrow(fault);
});

test("a fault after the beginning of a stream breaks the stream", async () => {
  const begun = await readAhead(source(100, fault).answer);
  await expect(buffer(streamOf(begun))).rejects.toThrow(fault);
});

test.each([2, 70])("the source of a stream ends when its reader leaves after %i pieces", async (left) => {
  const { state, answer } = source(1_000);
  let pieces = 0;
  for await (const _ of streamOf(await readAhead(answer))) if ((pieces += 1) === left) break;
  expect(state.ended).toBe(true);
});

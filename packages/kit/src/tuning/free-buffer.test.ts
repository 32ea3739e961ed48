import { expect, test } from "vitest";
import { freeBuffer } from "./free-buffer.ts";

test("the memory of bytes is freed at once, and the bytes are empty", () => {
  const bytes = Buffer.allocUnsafeSlow(1_000_000);
  const before = process.memoryUsage().arrayBuffers;
  freeBuffer(bytes);
  expect(process.memoryUsage().arrayBuffers).toBeLessThanOrEqual(before - 1_000_000);
  expect(bytes.byteLength).toBe(0);
});

test("the memory of a larger buffer is left alone when a part of it is freed", () => {
  const all = Buffer.from("shared by two".padEnd(100_000));
  freeBuffer(all.subarray(0, 13));
  expect(all.toString().trim()).toBe("shared by two");
});

test("empty bytes, which may be shared, stay usable when they are freed", () => {
  const empty = Buffer.alloc(0);
  freeBuffer(empty);
  expect(Buffer.from(empty.buffer)).toHaveLength(0);
});

test("bytes that were freed may be freed again", () => {
  const bytes = Buffer.allocUnsafeSlow(10);
  freeBuffer(bytes);
  expect(() => freeBuffer(bytes)).not.toThrow();
});

import { expect, test } from "vitest";
import { freeBuffer } from "./free-buffer.ts";

test("the memory of bytes is freed at once, and the bytes are empty", () => {
  const bytes = Buffer.allocUnsafeSlow(1_000_000);
  const before = process.memoryUsage().arrayBuffers;
  freeBuffer(bytes);
  expect(process.memoryUsage().arrayBuffers).toBeLessThanOrEqual(before - 1_000_000);
  expect(bytes.byteLength).toBe(0);
});

test("memory that other bytes share is left alone", () => {
  const all = Buffer.from("shared by two".padEnd(100_000));
  freeBuffer(all.subarray(0, 13));
  expect(all.toString().trim()).toBe("shared by two");
});

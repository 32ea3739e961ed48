import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { BodyPieces } from "./body-pieces.ts";

test.each([0, 1, 65_536, 65_537, 1_048_575, 1_048_576, 1_048_577, 3_500_000])(
  "a body of %i bytes arrives unchanged",
  (bytes) => {
    const body = randomBytes(bytes);
    const pieces = new BodyPieces();
    for (let at = 0; at < bytes; at += 65_536) pieces.add(body.subarray(at, at + 65_536));
    expect(pieces.bytes).toBe(bytes);
    expect(pieces.whole().equals(body)).toBe(true);
  },
);

test("pieces of different sizes are joined in order", () => {
  const pieces = new BodyPieces();
  const sizes = [1, 700_000, 0, 400_000, 65_536, 2_000_000, 3];
  const parts = sizes.map((size) => randomBytes(size));
  for (const part of parts) pieces.add(Buffer.from(part));
  expect(pieces.whole().equals(Buffer.concat(parts))).toBe(true);
});

test("a body of one block is returned as that block, of the announced length, without a copy", () => {
  const body = randomBytes(300_000);
  const pieces = new BodyPieces(body.length);
  for (let at = 0; at < body.length; at += 65_536) pieces.add(body.subarray(at, at + 65_536));
  const before = process.memoryUsage().arrayBuffers;
  const whole = pieces.whole();
  expect(process.memoryUsage().arrayBuffers).toBe(before);
  expect(whole.buffer.byteLength).toBe(body.length);
  pieces.free();
  expect(whole.equals(body)).toBe(true);
});

test("a body that fills less than half of its block is copied, and does not keep the block", () => {
  const body = randomBytes(200_000);
  const pieces = new BodyPieces();
  pieces.add(Buffer.from(body));
  const whole = pieces.whole();
  pieces.free();
  expect(whole.equals(body)).toBe(true);
  expect(whole.buffer.byteLength).toBe(body.length);
});

test("a body may have another length than was announced", () => {
  const body = randomBytes(200_000);
  for (const announced of [0, 1, 70_000, 300_000]) {
    const pieces = new BodyPieces(announced);
    for (let at = 0; at < body.length; at += 50_000) pieces.add(body.subarray(at, at + 50_000));
    expect(pieces.whole().equals(body)).toBe(true);
    pieces.free();
  }
});

test("`free` frees the blocks at once, and the body that was made of them stays", () => {
  const body = randomBytes(1_500_000);
  const pieces = new BodyPieces();
  pieces.add(Buffer.from(body));
  const before = process.memoryUsage().arrayBuffers;
  const whole = pieces.whole();
  pieces.free();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(0);
  expect(whole.equals(body)).toBe(true);
});

test("a piece that has its memory for itself is freed as soon as it is copied", () => {
  const body = randomBytes(200_000);
  const pieces = new BodyPieces(body.length);
  const own = [0, 50_000, 100_000, 150_000].map((at) => {
    const piece = Buffer.allocUnsafeSlow(50_000);
    body.copy(piece, 0, at);
    return piece;
  });
  for (const piece of own) pieces.add(piece);
  expect(own.map(({ byteLength }) => byteLength)).toEqual([0, 0, 0, 0]);
  expect(pieces.bytes).toBe(body.length);
  expect(pieces.whole().equals(body)).toBe(true);
});

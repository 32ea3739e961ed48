import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeCursor, encodeCursor, walkOf } from "./page-cursor.ts";

const documentId = "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10";
const walk = walkOf(["core/article", {}]);
const good = encodeCursor({ position: { updatedAt: new Date(1_795_253_400_123), documentId }, moment: 5n }, walk);

test("a cursor holds a position and a moment in at most 128 characters", () => {
  fc.assert(
    fc.property(
      fc.date({ noInvalidDate: true }),
      fc.uuid(),
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      (updatedAt, documentId, moment) => {
        const held = { position: { updatedAt, documentId }, moment };
        const cursor = encodeCursor(held, walk);
        expect(cursor.length).toBeLessThanOrEqual(128);
        expect(decodeCursor(cursor, walk)).toEqual(held);
      },
    ),
  );
});

function token(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

test.each([
  ["an empty text", ""],
  ["plain text", "nonsense"],
  ["a token of broken JSON", Buffer.from("{").toString("base64url")],
  ["a token of another version", token([2, 1, documentId, "5", walk])],
  ["a token whose time is a fraction", token([1, 1.5, documentId, "5", walk])],
  ["a token whose time is out of range", token([1, 1e300, documentId, "5", walk])],
  ["a token whose time is text", token([1, "1", documentId, "5", walk])],
  ["a token whose id is no UUID", token([1, 1, "x", "5", walk])],
  ["a token whose moment is a number", token([1, 1, documentId, 5, walk])],
  ["a token whose moment has more than 64 bits", token([1, 1, documentId, "10000000000000000", walk])],
  ["a token whose moment begins with a zero", token([1, 1, documentId, "05", walk])],
  [
    "a cursor of another walk",
    encodeCursor({ position: { updatedAt: new Date(1), documentId }, moment: 5n }, walkOf(["core/image", {}])),
  ],
  ["a token of too few members", token([1, 1, documentId, "5"])],
  ["a token of too many members", token([1, 1, documentId, "5", walk, 1])],
  ["a token of null", token(null)],
  ["a cursor with padding", `${good}=`],
  ["a cursor with a long tail", good + "A".repeat(200)],
])("%s cannot be used as a cursor", (_, cursor) => {
  expect(decodeCursor(cursor, walk)).toBeUndefined();
});

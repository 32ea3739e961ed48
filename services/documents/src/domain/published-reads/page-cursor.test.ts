import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeCursor, encodeCursor } from "./page-cursor.ts";

const documentId = "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10";
const good = encodeCursor({ updatedAt: new Date(1_795_253_400_123), documentId });

test("a cursor names its place in at most 128 characters", () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), fc.uuid(), (updatedAt, documentId) => {
      const cursor = encodeCursor({ updatedAt, documentId });
      expect(cursor.length).toBeLessThanOrEqual(128);
      expect(decodeCursor(cursor)).toEqual({ updatedAt, documentId });
    }),
  );
});

function token(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

test.each([
  ["nothing", ""],
  ["text", "nonsense"],
  ["no JSON", Buffer.from("{").toString("base64url")],
  ["another version", token([2, 1, documentId])],
  ["a fraction", token([1, 1.5, documentId])],
  ["a time there is not", token([1, 1e300, documentId])],
  ["text for a time", token([1, "1", documentId])],
  ["no id", token([1, 1, "x"])],
  ["too many members", token([1, 1, documentId, 1])],
  ["null", token(null)],
  ["padding", `${good}=`],
  ["a long tail", good + "A".repeat(200)],
])("%s is no cursor", (_, cursor) => {
  expect(decodeCursor(cursor)).toBeUndefined();
});

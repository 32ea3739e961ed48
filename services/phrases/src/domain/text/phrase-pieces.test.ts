import { expect, test } from "vitest";
import type { Phrase } from "../phrase.ts";
import { PhrasePieces } from "./phrase-pieces.ts";
import { csvText, jsonText, type PhraseText } from "./phrase-text.ts";

const date = new Date("2026-01-02T03:04:05.678Z");
const phrase = (n: number, description: string): Phrase => ({
  id: `0194c9a0-0000-4000-8000-${String(n).padStart(12, "0")}`,
  language: "sv",
  phrase: `ord ${n}`,
  caseSensitive: false,
  forbidden: false,
  commonMistakes: [],
  description,
  createdAt: date,
  updatedAt: date,
});

async function* batchesOf(batches: readonly Phrase[][]): AsyncGenerator<Phrase[]> {
  yield* batches;
}

async function piecesOf(text: PhraseText, batches: readonly Phrase[][]): Promise<{ pieces: string[]; steps: number }> {
  const written = new PhrasePieces(text, batchesOf(batches));
  const pieces: string[] = [];
  let steps = 0;
  for (; !written.hasEnded; steps += 1) {
    await written.extend();
    const piece = written.take();
    if (piece) pieces.push(piece.toString());
  }
  return { pieces, steps };
}

const whole = (text: PhraseText, phrases: readonly Phrase[]) =>
  text.head + phrases.map((each) => text.write(each)).join(text.separator) + text.tail;

const kib = 1024;
const few = Array.from({ length: 500 }, (_, n) => phrase(n, "kort"));
const long = Array.from({ length: 200 }, (_, n) => phrase(n, "å".repeat(50 * kib)));

test.each([
  ["JSON", jsonText],
  ["CSV", csvText],
])("the pieces of a dictionary as %s are its text when they are joined in order", async (_, text) => {
  const batches = [few.slice(0, 200), [], few.slice(200, 400), long, few.slice(400)];
  const { pieces } = await piecesOf(text, batches);
  expect(pieces.join("")).toBe(whole(text, batches.flat()));
});

test("an empty dictionary is one piece: an empty array as JSON, the header as CSV", async () => {
  expect((await piecesOf(jsonText, [])).pieces).toEqual(["[]"]);
  expect((await piecesOf(csvText, [])).pieces).toEqual([csvText.head]);
});

test("every piece but the last has 128 Ki characters and at most one phrase more", async () => {
  const { pieces } = await piecesOf(jsonText, [few, long, few, few]);
  for (const piece of pieces.slice(0, -1)) {
    expect(piece.length).toBeGreaterThanOrEqual(128 * kib);
    expect(piece.length).toBeLessThan(128 * kib + 51 * kib);
  }
  expect(pieces.length).toBeGreaterThan(60);
});

test("one call of extend ends when a piece is full or a batch has ended", async () => {
  const { pieces, steps } = await piecesOf(jsonText, [long, few, few]);
  // The last batches and the end of the text take a step each without filling a piece.
  expect(steps - pieces.length).toBeLessThanOrEqual(4);
  expect(pieces.length).toBeGreaterThan(60);
  // A step for each batch, and one for the end of the text.
  expect((await piecesOf(jsonText, [[few[0]!], [few[1]!], [few[2]!]])).steps).toBe(4);
});

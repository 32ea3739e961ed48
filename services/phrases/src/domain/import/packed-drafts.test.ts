import { expect, test } from "vitest";
import type { PhraseDraft } from "../phrase.ts";
import { PackedDrafts } from "./packed-drafts.ts";

const id = "01900000-0000-7000-8000-000000000000";

const draft = (phrase: string, more: Partial<PhraseDraft> = {}): PhraseDraft => {
  return {
    language: "sv",
    phrase,
    caseSensitive: false,
    forbidden: false,
    commonMistakes: [],
    description: "",
    ...more,
  };
};

function pack(drafts: readonly PhraseDraft[]): PackedDrafts {
  const packed = new PackedDrafts();
  for (const each of drafts) packed.add(each);
  return packed;
}

test("drafts are returned as they were added, also at a second reading", () => {
  const texts = ['a "quote"', "back\\slash", "\\n as two characters", "[1],", "ord\u00a0här", "😀"];
  const drafts = texts.map((text) =>
    draft(text, { id, forbidden: true, commonMistakes: [text, text], description: text }),
  );
  const packed = pack(drafts);
  expect([...packed.batches()].flat()).toEqual(drafts);
  expect([...packed.batches()].flat()).toEqual(drafts);
  expect(packed.count).toBe(drafts.length);
});

test("a batch ends with the draft that brings it to 32 Ki characters", () => {
  const sizes = (drafts: readonly PhraseDraft[]) => Array.from(pack(drafts).batches(), ({ length }) => length);
  const long = draft("lång", { description: "x".repeat(1_000) });
  expect(sizes(Array.from({ length: 70 }, () => long))).toEqual([30, 30, 10]);
  expect(sizes([])).toEqual([]);
});

test("packed drafts tell whether any of them has an id", () => {
  expect(pack([draft("a"), draft("b")]).withIds).toBe(false);
  expect(pack([draft("a"), draft("b", { id }), draft("c")]).withIds).toBe(true);
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { keyOf, type Phrase, type PhraseDraft } from "./phrase.ts";
import { planUpserts } from "./plan-upserts.ts";

const [then, now] = [new Date(1_000), new Date(2_000)];
const drafted = (phrase: string, id?: string, description = ""): PhraseDraft => ({
  ...(id === undefined ? {} : { id }),
  language: "sv",
  phrase,
  caseSensitive: false,
  forbidden: false,
  commonMistakes: [],
  description,
});
const kept = (phrase: string, id: string): Phrase => ({ ...drafted(phrase), id, createdAt: then, updatedAt: then });

/** Applies the writes as a store with two unique indexes does. */
function written(standing: readonly Phrase[], writes: ReturnType<typeof planUpserts>["writes"]): Phrase[] {
  const rows = new Map(standing.map((phrase) => [phrase.id, phrase]));
  for (const write of writes) {
    if (write.kind !== "insert") {
      expect(keyOf(rows.get(write.standing.id)!)).toBe(keyOf(write.standing));
      rows.delete(write.standing.id);
    }
    if (write.kind === "delete") continue;
    expect(rows.has(write.phrase.id)).toBe(false);
    expect([...rows.values()].some((row) => keyOf(row) === keyOf(write.phrase))).toBe(false);
    rows.set(write.phrase.id, write.phrase);
  }
  return [...rows.values()];
}

const text = fc.constantFrom("a", "b", "c", "d");
const id = fc.constantFrom("1", "2", "3", "4");
const draft = fc.tuple(text, fc.option(id, { nil: undefined }), fc.constantFrom("", "x")).map((of) => drafted(...of));
const dictionary = fc
  .tuple(fc.shuffledSubarray(["a", "b", "c", "d"]), fc.shuffledSubarray(["1", "2", "3", "4"]))
  .map(([texts, ids]) => texts.slice(0, ids.length).map((phrase, index) => kept(phrase, ids[index]!)));

const stamps = () => {
  let minted = 0;
  return { now, mintId: () => `new ${(minted += 1)}` };
};

test("planning a list of drafts gives the same rows as planning its drafts one by one", () => {
  fc.assert(
    fc.property(dictionary, fc.array(draft), (standing, drafts) => {
      const { mintId } = stamps();
      let rows = [...standing];
      const refused: number[] = [];
      for (const [position, one] of drafts.entries()) {
        const plan = planUpserts([one], rows, { now, mintId });
        if (plan.conflicts.length > 0) refused.push(position);
        rows = written(rows, plan.writes);
      }
      const whole = planUpserts(drafts, standing, stamps());
      expect(whole.conflicts.map(({ position }) => position)).toEqual(refused);
      const sorted = (phrases: readonly Phrase[]) => phrases.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(sorted(written(standing, whole.writes))).toEqual(sorted(rows));
    }),
  );
});

/** Lists of drafts that all have known ids, or all have none. */
const uniform = fc.tuple(dictionary, fc.array(draft), fc.boolean()).map(([standing, drafts, byId]) => {
  const ids = new Set(standing.map(({ id }) => id));
  const texts = drafts.map(({ phrase, description }) => drafted(phrase, undefined, description));
  return { standing, drafts: byId ? drafts.filter(({ id }) => id !== undefined && ids.has(id)) : texts };
});

test("drafts that all have known ids, or no ids, give the same texts when repeated after a partial write", () => {
  fc.assert(
    fc.property(uniform, fc.nat(), ({ standing, drafts }, cut) => {
      const minting = stamps();
      const whole = planUpserts(drafts, standing, minting);
      fc.pre(whole.conflicts.length === 0);
      const texts = (phrases: readonly Phrase[]) =>
        phrases.map(({ phrase, description }) => phrase + description).toSorted();
      const once = written(standing, whole.writes);
      const partly = written(
        standing,
        planUpserts(drafts.slice(0, cut % (drafts.length + 1)), standing, minting).writes,
      );
      const repeated = planUpserts(drafts, partly, minting);
      fc.pre(repeated.conflicts.length === 0);
      expect(texts(written(partly, repeated.writes))).toEqual(texts(once));
    }),
  );
});

test("a draft that changes nothing but the id writes nothing, and the phrase keeps its id", () => {
  const standing = [kept("a", "1")];
  expect(planUpserts([drafted("a"), drafted("a", "1"), drafted("a", "9")], standing, stamps())).toEqual({
    writes: [],
    phrases: [standing[0], standing[0], standing[0]],
    outcomes: ["unchanged", "unchanged", "unchanged"],
    conflicts: [],
  });
});

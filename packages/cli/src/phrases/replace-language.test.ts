import { expect, test } from "vitest";
import { wordParts } from "./phrase-file.ts";
import { replaceLanguage } from "./replace-language.ts";

/**
 * A language in memory, in which a phrase has its text as id. The call with the number `diesAt`
 * throws instead of taking effect.
 */
function dictionary(standing: readonly string[], diesAt = Number.POSITIVE_INFINITY) {
  const phrases = new Set(standing);
  const calls: string[] = [];
  const call = (name: string) => {
    if (calls.length === diesAt) throw new Error("killed");
    calls.push(name);
  };
  return {
    phrases,
    calls,
    ids: async () => {
      call("ids");
      return new Set(phrases);
    },
    import: async ({ text }: { text: string }, dryRun: boolean) => {
      call(dryRun ? "dry run" : "import");
      const ids = (JSON.parse(text) as { phrase: string }[]).map(({ phrase }) => phrase);
      const created = ids.filter((id) => !phrases.has(id)).length;
      if (!dryRun) for (const id of ids) phrases.add(id);
      return { imported: ids.length, created, changed: 0, unchanged: ids.length - created, phraseIds: ids };
    },
    delete: async (ids: readonly string[]) => {
      call("delete");
      return ids.filter((id) => phrases.delete(id)).length;
    },
  };
}

const words = ["bleibt", "neu"].map((text, at) => ({ text, at }));
const parts = words.flatMap((word) => wordParts([word], "sv"));
const send = <T>(_: unknown, each: () => Promise<T>) => each();

const counts = { imported: 2, created: 1, changed: 0, unchanged: 1, deleted: 1 };

test("a dry run counts what a replacement would change, without changing it", async () => {
  const language = dictionary(["bleibt", "geht"]);
  expect(await replaceLanguage(language, parts, { dryRun: true, send })).toEqual(counts);
  expect([...language.phrases]).toEqual(["bleibt", "geht"]);
});

test("a replacement checks every part, then writes every part, then deletes phrases that no part has", async () => {
  const language = dictionary(["bleibt", "geht"]);
  expect(await replaceLanguage(language, parts, { dryRun: false, send })).toEqual(counts);
  expect(language.calls).toEqual(["ids", "dry run", "dry run", "import", "import", "delete"]);
  expect([...language.phrases]).toEqual(["bleibt", "neu"]);
});

test.for([0, 1, 2, 3, 4, 5])(
  "a replacement that dies after %i calls has deleted no phrase, and a repeat completes it",
  async (call) => {
    const language = dictionary(["bleibt", "geht"], call);
    await expect(replaceLanguage(language, parts, { dryRun: false, send })).rejects.toThrow("killed");
    expect([...language.phrases]).toEqual(expect.arrayContaining(["bleibt", "geht"]));
    const again = dictionary([...language.phrases]);
    await replaceLanguage(again, parts, { dryRun: false, send });
    expect(again.phrases).toEqual(new Set(["bleibt", "neu"]));
  },
);

test("a phrase that somebody adds during the replacement stays", async () => {
  const language = dictionary(["bleibt"]);
  const meanwhile = {
    ...language,
    import: async (part: { text: string }, dryRun: boolean) => {
      language.phrases.add("eben");
      return language.import(part, dryRun);
    },
  };
  expect(await replaceLanguage(meanwhile, parts, { dryRun: false, send })).toMatchObject({ deleted: 0 });
  expect(language.phrases).toEqual(new Set(["bleibt", "neu", "eben"]));
});

test("files without a phrase are refused, and replace nothing", async () => {
  const language = dictionary(["bleibt"]);
  await expect(replaceLanguage(language, [], { dryRun: false, send })).rejects.toThrow("phrases delete --language");
  expect(language.calls).toEqual([]);
});

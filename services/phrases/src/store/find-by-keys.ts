import type { Collection, Filter } from "mongodb";
import type { Phrase } from "../domain/phrase.ts";
import type { PhrasePosition } from "../domain/phrase-page.ts";
import { fromRow, type PhraseRow, withoutOwn } from "./rows.ts";

/**
 * The index of keys. Pages and exports have its order, so mongod does not sort.
 *
 * A find without a sort needs this index as a hint. MongoDB takes the index that finds the first
 * 101 rows fastest. Rows of a sorted import have ids and texts in the same order, so MongoDB may
 * take the index of ids, and would then read the whole dictionary for the other rows.
 */
export const inOrder = { tenantId: 1, language: 1, phrase: 1 } as const;

/** The phrases that have one of the keys, in no order. */
export async function findByKeys(
  phrases: Collection<PhraseRow>,
  tenantId: string,
  keys: readonly PhrasePosition[],
): Promise<Phrase[]> {
  const byLanguage = Map.groupBy(keys, ({ language }) => language);
  const matches = Array.from(byLanguage, ([language, own]): Filter<PhraseRow> => {
    return { tenantId, language, phrase: { $in: own.map(({ phrase }) => phrase) } };
  });
  const [only, ...others] = matches;
  if (!only) return [];
  const filter = others.length === 0 ? only : { $or: matches };
  const options = { projection: withoutOwn, hint: inOrder, maxTimeMS: 20_000 };
  return (await phrases.find(filter, options).toArray()).map(fromRow);
}

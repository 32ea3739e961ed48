import type { Collection, Filter } from "mongodb";
import { keyOf } from "../domain/phrase.ts";
import type { PageQuery, PhrasePage, PhrasePosition } from "../domain/phrase-page.ts";
import { findByKeys, inOrder } from "./find-by-keys.ts";
import { fromRow, type PhraseRow, withoutOwn } from "./rows.ts";

/**
 * Most phrases that a search examines, in about 40 ms, even when none contains the text: it reads
 * only their keys, from the index.
 */
const examinedMax = 20_000;
const maxTimeMS = 20_000;

export function readPage(
  phrases: Collection<PhraseRow>,
  tenantId: string,
  { language, contains, after, limit }: PageQuery,
): Promise<PhrasePage> {
  const filter = rangeOf(tenantId, language, after);
  return contains === "" ? readRows(phrases, filter, limit) : search(phrases, tenantId, filter, contains, limit);
}

async function readRows(phrases: Collection<PhraseRow>, filter: Filter<PhraseRow>, limit: number): Promise<PhrasePage> {
  const options = { projection: withoutOwn, sort: inOrder, limit: limit + 1, maxTimeMS };
  const rows = await phrases.find(filter, options).toArray();
  const page = rows.slice(0, limit).map(fromRow);
  return { phrases: page, next: rows.length > limit ? page.at(-1) : undefined };
}

/** The keys that a search has found, and the last key that it examined when there may be more. */
interface Found {
  readonly found: PhrasePosition[];
  readonly last: PhrasePosition[];
}

async function search(
  phrases: Collection<PhraseRow>,
  tenantId: string,
  filter: Filter<PhraseRow>,
  contains: string,
  limit: number,
): Promise<PhrasePage> {
  const matches = { phrase: { $regex: contains.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), $options: "i" } };
  const pipeline = [
    { $match: filter },
    { $sort: inOrder },
    { $limit: examinedMax },
    { $project: { _id: 0, language: 1, phrase: 1 } },
    { $facet: { found: [{ $match: matches }, { $limit: limit }], last: [{ $skip: examinedMax - 1 }] } },
  ];
  const [result] = await phrases.aggregate<Found>(pipeline, { maxTimeMS }).toArray();
  const { found = [], last = [] } = result ?? {};
  const rows = await findByKeys(phrases, tenantId, found);
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  const next = found.length === limit ? found.at(-1) : last[0];
  return { phrases: found.flatMap((position) => byKey.get(keyOf(position)) ?? []), next };
}

/**
 * Selects the phrases after a position. Each branch is one range of the index, and MongoDB merges
 * them in order.
 */
function rangeOf(tenantId: string, language: string | undefined, after: PhrasePosition | undefined): Filter<PhraseRow> {
  if (!after) return language === undefined ? { tenantId } : { tenantId, language };
  const rest = { tenantId, language: after.language, phrase: { $gt: after.phrase } };
  return language === undefined ? { $or: [rest, { tenantId, language: { $gt: after.language } }] } : rest;
}

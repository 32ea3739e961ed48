import { forEachConcurrent } from "../for-each-concurrent.ts";
import { ApiError } from "../public-api/answer.ts";
import type { DocumentsApi } from "../public-api/documents-api.ts";
import { Refusal } from "./draft.ts";
import { itemName } from "./item-name.ts";
import type { FeedEntry } from "./read-feed.ts";
import { toDocument } from "./to-document.ts";

/** The result of an import, in the feed's order. */
export interface ImportReport {
  readonly created: readonly string[];
  /**
   * Ids in use: of documents that existed before, or that this import has made in an attempt whose
   * answer was lost.
   */
  readonly existing: readonly string[];
  readonly rejected: readonly { readonly item: string; readonly reason: string }[];
  /**
   * How many of `rejected` make the import fail: items that are unreadable, damaged or refused by
   * the platform, and those under way when the import stopped.
   */
  readonly failures: number;
  /** Why the rest of the feed was not imported; undefined when all of it was tried. */
  readonly stopped: ApiError | undefined;
}

type Result =
  | { readonly outcome: "created" | "existing"; readonly id: string }
  | { readonly outcome: "rejected"; readonly item: string; readonly reason: string; readonly failed: boolean };

const concurrentMax = 8;

/**
 * Pushes every item of a feed that can be mapped, eight at a time. A failed item does not stop the
 * others, unless they would fail for the same reason, such as a refused key or a gateway that
 * cannot be reached.
 *
 * @param onEntry called after each entry that did not stop the import, for the progress bar
 */
export async function importFeed(
  entries: AsyncIterable<FeedEntry>,
  api: DocumentsApi,
  onEntry: (bytes: number, outcome: Result["outcome"]) => void,
): Promise<ImportReport> {
  const results: Result[] = [];
  let begun = 0;
  let stopped: ApiError | undefined;
  const take = async (entry: FeedEntry) => {
    const index = begun++;
    try {
      const result = await importEntry(entry, api);
      results[index] = result;
      onEntry(entry.bytes, result.outcome);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      stopped ??= error;
      results[index] = rejected(nameOf(entry), error.message, true);
      throw error;
    }
  };
  await forEachConcurrent(entries, concurrentMax, take).catch((error: unknown) => {
    if (error !== stopped) throw error;
  });
  return toReport(results, stopped);
}

async function importEntry(entry: FeedEntry, api: DocumentsApi): Promise<Result> {
  if ("fault" in entry) return rejected(entry.name, entry.fault, true);
  try {
    const { id, json } = toDocument(entry.value);
    const { outcome } = await api.pushDocument(json, true);
    return { outcome, id };
  } catch (error) {
    if (error instanceof Refusal) return rejected(nameOf(entry), error.message, !error.unmappable);
    if (error instanceof ApiError && !error.failsAll) return rejected(nameOf(entry), error.message, true);
    throw error;
  }
}

function nameOf(entry: FeedEntry): string {
  return "value" in entry ? itemName(entry.name, entry.value) : entry.name;
}

function rejected(item: string, reason: string, failed: boolean): Result {
  return { outcome: "rejected", item, reason, failed };
}

function toReport(results: readonly Result[], stopped: ApiError | undefined): ImportReport {
  const ids = (outcome: "created" | "existing") =>
    results.flatMap((result) => (result.outcome === outcome ? [result.id] : []));
  const refused = results.filter((result) => result.outcome === "rejected");
  return {
    created: ids("created"),
    existing: ids("existing"),
    rejected: refused.map(({ item, reason }) => ({ item, reason })),
    failures: refused.filter(({ failed }) => failed).length,
    stopped,
  };
}

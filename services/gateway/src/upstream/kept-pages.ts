import type { ListPublishedDocumentsResponse } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { LRUCache } from "lru-cache";

const keptBytesMax = 32 * 1024 * 1024;
/** A larger page is read each time, so that few large pages do not push out many small ones. */
const pageBytesMax = 1024 * 1024;
const seenMax = 10_000;
/** What an entry takes beside its items. */
const entryBytes = 512;

/**
 * Keeps pages that were read twice without a change in between, up to 32 MiB. A walk through many
 * pages, or a page that changes with every read, keeps nothing.
 */
export class KeptPages {
  readonly #kept = new LRUCache<string, ListPublishedDocumentsResponse>({
    maxSize: keptBytesMax,
    maxEntrySize: pageBytesMax,
    sizeCalculation: ({ itemsJson }, key) => itemsJson.byteLength + key.length + entryBytes,
  });
  /** The tags of the newest reads. */
  readonly #seen = new LRUCache<string, string>({ max: seenMax });

  /** The page as it was read last; whether it still stands is not known here. */
  get(key: string): ListPublishedDocumentsResponse | undefined {
    return this.#kept.get(key);
  }

  /** Takes note of a page that was read now. */
  note(key: string, page: ListPublishedDocumentsResponse): void {
    if (this.#seen.get(key) === page.etag) this.#kept.set(key, page);
    else this.#kept.delete(key);
    this.#seen.set(key, page.etag);
  }
}

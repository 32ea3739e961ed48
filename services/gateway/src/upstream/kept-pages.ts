import type { ListPublishedDocumentsResponse } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { LRUCache } from "lru-cache";
import { TenantCache } from "../pools/tenant-cache.ts";

const keptBytesMax = 32 * 1024 * 1024;
/** About 10,000 tags, or fewer when clients send long cursors. */
const seenBytesMax = 4 * 1024 * 1024;
/** Estimated bytes of an entry besides the contents that are counted. */
const entryBytes = 256;

interface PageName {
  readonly tenantId: string;
  /** The request, with the tenant. */
  readonly key: string;
}

/**
 * Caches pages that were read twice without a change in between, up to 32 MiB. A single walk
 * through many pages, or a page that changes with every read, caches nothing.
 */
export class KeptPages {
  readonly #kept = new TenantCache<ListPublishedDocumentsResponse>(keptBytesMax);
  /** From the key of a page to the tag of its latest read. */
  readonly #seen = new LRUCache<string, string>({
    maxSize: seenBytesMax,
    sizeCalculation: (etag, key) => etag.length + key.length + entryBytes,
  });

  /** The page as it was last read; it may be outdated. */
  get({ tenantId, key }: PageName): ListPublishedDocumentsResponse | undefined {
    return this.#kept.get(tenantId, key);
  }

  note({ tenantId, key }: PageName, page: ListPublishedDocumentsResponse): void {
    if (this.#seen.get(key) === page.etag) {
      this.#kept.set(
        tenantId,
        key,
        page,
        page.itemsJson.byteLength + page.includedJson.byteLength + key.length + entryBytes,
      );
    } else this.#kept.delete(tenantId, key);
    this.#seen.set(key, page.etag);
  }
}

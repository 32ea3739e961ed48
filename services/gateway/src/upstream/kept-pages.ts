import type { ListPublishedDocumentsResponse } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { LRUCache } from "lru-cache";
import { TenantCache } from "../limits/tenant-cache.ts";

const keptBytesMax = 32 * 1024 * 1024;
/** About 10,000 tags; fewer when clients send long cursors. */
const seenBytesMax = 4 * 1024 * 1024;
/** What an entry takes beside its items, its tag and its key. */
const entryBytes = 256;

/** Names a page: whose, and what was asked for. */
interface PageName {
  readonly tenantId: string;
  readonly key: string;
}

/**
 * Keeps pages that were read twice without a change in between, up to 32 MiB. A walk through many
 * pages, or a page that changes with every read, keeps nothing.
 */
export class KeptPages {
  readonly #kept = new TenantCache<ListPublishedDocumentsResponse>(keptBytesMax);
  /** The tags of the newest reads, by key. */
  readonly #seen = new LRUCache<string, string>({
    maxSize: seenBytesMax,
    sizeCalculation: (etag, key) => etag.length + key.length + entryBytes,
  });

  /** The page as it was read last; whether it still stands is not known here. */
  get({ tenantId, key }: PageName): ListPublishedDocumentsResponse | undefined {
    return this.#kept.get(tenantId, key);
  }

  /** Takes note of a page that was read now. The key names its tenant, too. */
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

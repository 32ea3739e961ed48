import { createBatcher } from "@vidimus/kit/queues/batcher";
import { LRUCache } from "lru-cache";
import type { Payload } from "../domain/payload.ts";
import type { PayloadStore } from "../store/payload-store.ts";

/** Payloads at hand. */
export interface PayloadShelf {
  put(payload: Payload): void;
  /** The payload; undefined while it is not stored. */
  get(webhookId: string): Promise<Payload | undefined>;
}

const shelfBytesMax = 64 * 1024 * 1024;

/** Keeps the newest payloads in memory, up to 64 MiB, and reads the others, many at once. */
export function createPayloadShelf(payloads: Pick<PayloadStore, "findMany">): PayloadShelf {
  const shelf = new LRUCache<string, Payload>({ maxSize: shelfBytesMax, sizeCalculation: sizeOf });
  const read = createBatcher<string, Payload | undefined>({
    itemsMax: 16,
    inFlightMax: 2,
    run: async (webhookIds) => {
      const found = new Map((await payloads.findMany([...new Set(webhookIds)])).map((each) => [each.webhookId, each]));
      return webhookIds.map((webhookId) => found.get(webhookId));
    },
  });
  return {
    put: (payload) => void shelf.set(payload.webhookId, payload),
    async get(webhookId) {
      const known = shelf.get(webhookId);
      if (known) return known;
      const found = await read(webhookId);
      if (found) shelf.set(webhookId, found);
      return found;
    },
  };
}

function sizeOf({ body }: Payload): number {
  return body.byteLength + 512;
}

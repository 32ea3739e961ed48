import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { ListKeysResponse, TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";

/** The trust list as the public API shows it. */
export interface TrustList {
  /** The key that signs new snapshots; null while signing is off. */
  readonly active: string | null;
  readonly keys: readonly {
    readonly keyId: string;
    readonly algorithm: string;
    /** Base64 of SPKI DER. */
    readonly publicKey: string;
    readonly validFrom: string;
    /** Null for the active key. */
    readonly validUntil: string | null;
  }[];
}

/** Answers the trust list, from memory while the copy is fresh. */
export type TrustListCache = () => Promise<TrustList>;

const freshMs = 1_000;
/** The same day for which `stale-if-error` lets clients use their own copy. */
const lastGoodMs = 86_400_000;
const timeoutMs = 2_000;

/**
 * Keeps the trust list for a second, and makes one call for all requests that come meanwhile. While
 * signing does not answer, the last good copy is used for up to a day, so that receivers can go on
 * verifying.
 */
export function trustListCache(
  signing: Pick<Client<typeof TrustListService>, "listKeys">,
  now: () => number = Date.now,
): TrustListCache {
  let copy: { list: TrustList; readAt: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<TrustList> | undefined;

  async function ask(): Promise<TrustList> {
    askedAt = now();
    try {
      copy = { list: fromProto(await signing.listKeys({}, { timeoutMs })), readAt: now() };
    } catch (error) {
      if (!copy || now() - copy.readAt > lastGoodMs) throw error;
    }
    return copy.list;
  }

  return async () => {
    if (copy && now() - askedAt < freshMs && now() - copy.readAt <= lastGoodMs) return asking ?? copy.list;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

function fromProto(response: ListKeysResponse): TrustList {
  return {
    active: response.activeKeyId || null,
    keys: response.keys.map(({ keyId, algorithm, publicKey, validFrom, validUntil }) => ({
      keyId,
      algorithm,
      publicKey: Buffer.from(publicKey).toString("base64"),
      validFrom: iso(validFrom) ?? new Date(0).toISOString(),
      validUntil: iso(validUntil),
    })),
  };
}

function iso(stamp: Timestamp | undefined): string | null {
  return stamp ? timestampDate(stamp).toISOString() : null;
}

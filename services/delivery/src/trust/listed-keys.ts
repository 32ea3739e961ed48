import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { TrustList } from "./trust-list.ts";

type Sign = Pick<Client<typeof SigningService>, "signSnapshots">;
type Settle = Pick<Client<typeof SnapshotFeedService>, "settleSnapshots">;

/**
 * Signing, whose signatures are refused unless the trust list has their keys. A signing process may
 * use a revoked key for five seconds more; a call that is repeated after them gets another
 * signature.
 */
export function signWithListedKeys({ signSnapshots }: Sign, trustList: Pick<TrustList, "require">): Sign {
  return {
    async signSnapshots(request, options) {
      const response = await signSnapshots(request, options);
      const keyIds = response.results.flatMap(({ outcome }) =>
        outcome.case === "signature" ? outcome.value.keyId : [],
      );
      await trustList.require([...new Set(keyIds)]);
      return response;
    },
  };
}

/**
 * Greatest age of the trust list with which signatures are handed to documents. So documents gets
 * no signature of a revoked key long after the revocation: the walk that replaces such signatures
 * relies on that (`resigningGraceMs`).
 */
const listAgeMsMax = 15_000;

/** Documents, to which signatures are handed only while the trust list has their keys. */
export function settleWithListedKeys({ settleSnapshots }: Settle, trustList: Pick<TrustList, "require">): Settle {
  return {
    async settleSnapshots(request, options) {
      const keyIds = (request.settlements ?? []).flatMap(({ outcome }) =>
        outcome?.case === "signature" ? (outcome.value.keyId ?? []) : [],
      );
      if (keyIds.length > 0) await trustList.require([...new Set(keyIds)], listAgeMsMax);
      return settleSnapshots(request, options);
    },
  };
}

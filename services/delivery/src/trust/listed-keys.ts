import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { TrustList } from "./trust-list.ts";

type Sign = Pick<Client<typeof SigningService>, "signSnapshots">;
type Settle = Pick<Client<typeof SnapshotFeedService>, "settleSnapshots">;

/**
 * A client of signing that rejects an answer unless the trust list has the keys of its signatures:
 * a signing process may use a revoked key for five seconds more. A later call gets signatures of
 * another key.
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
 * Greatest age of the trust list with which signatures are handed to documents. Together with the
 * 10 s of that call it must stay below `resigningGraceMs`: signatures of a revoked key that arrive
 * later are not replaced.
 */
const listAgeMsMax = 15_000;

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

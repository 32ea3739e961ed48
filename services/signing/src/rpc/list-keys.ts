import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { TrustedKeySchema, TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { listedKeys, type RingKey, signingKey } from "../domain/key-ring.ts";
import type { StatedList } from "../domain/stated-list.ts";

export interface ListKeysDeps {
  /** The function that `stateLists` returns: `domain/state-lists.ts`. */
  statedList(): Promise<StatedList>;
}

export function listKeys({ statedList }: ListKeysDeps): MethodImpl<typeof TrustListService.method.listKeys> {
  return async () => {
    const { ring, body, statement, signature } = await statedList();
    const { keyId, publicKey, delegation = "" } = ring.listKey;
    return {
      activeKeyId: signingKey(ring)?.keyId ?? "",
      keys: listedKeys(ring).map(toProto),
      revision: BigInt(ring.revision),
      body,
      stated: { statement, keyId, publicKey, signature, delegation },
    };
  };
}

function toProto({ keyId, publicKey, validFrom, validUntil }: RingKey): MessageInitShape<typeof TrustedKeySchema> {
  return {
    keyId,
    algorithm: "ed25519",
    publicKey,
    validFrom: timestampFromDate(validFrom),
    ...(validUntil && { validUntil: timestampFromDate(validUntil) }),
  };
}

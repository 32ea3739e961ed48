import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { TrustedKeySchema, TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { type KeyRing, listedKeys, type RingKey, signingKey } from "../domain/key-ring.ts";

export interface ListKeysDeps {
  /** `domain/list-ring.ts`. */
  listedRing(): Promise<KeyRing | undefined>;
}

/**
 * Implements `ListKeys`, from the stored ring. Before the first ring is stored: no keys, revision
 * 0.
 */
export function listKeys({ listedRing }: ListKeysDeps): MethodImpl<typeof TrustListService.method.listKeys> {
  return async () => {
    const ring = await listedRing();
    if (!ring) return { activeKeyId: "", keys: [], revision: 0n };
    return {
      activeKeyId: signingKey(ring)?.keyId ?? "",
      keys: listedKeys(ring).map(toProto),
      revision: BigInt(ring.revision),
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

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { TrustedKeySchema, TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { listedKeys, type RingKey, signingKey } from "../domain/key-ring.ts";
import type { RingStorage } from "../domain/settle-ring.ts";

/** Implements `ListKeys`, from the ring as it stands now. Before there was a ring: no keys, revision 0. */
export function listKeysRpc(deps: {
  rings: Pick<RingStorage, "read">;
}): MethodImpl<typeof TrustListService.method.listKeys> {
  return async () => {
    const ring = await deps.rings.read();
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

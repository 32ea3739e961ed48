import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ListKeySchema, RingKeySchema } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { delegationEnd } from "../../domain/delegation.ts";
import type { KeyRing, ListKey, RingKey } from "../../domain/key-ring.ts";

export function ringKeyToProto(key: RingKey): MessageInitShape<typeof RingKeySchema> {
  const { keyId, state, publishedAt, validFrom, validUntil, activeSince } = key;
  return {
    keyId,
    state,
    publishedAt: timestampFromDate(publishedAt),
    validFrom: timestampFromDate(validFrom),
    ...(validUntil && { validUntil: timestampFromDate(validUntil) }),
    ...(activeSince && { activeSince: timestampFromDate(activeSince) }),
  };
}

export function listKeyToProto({ keyId, publicKey, delegation }: ListKey): MessageInitShape<typeof ListKeySchema> {
  const end = delegation && delegationEnd(delegation);
  return { keyId, publicKey, ...(end && { delegatedUntil: timestampFromDate(end) }) };
}

export function keyOfRing({ keys }: KeyRing, keyId: string): { key: MessageInitShape<typeof RingKeySchema> } {
  const key = keys.find((each) => each.keyId === keyId);
  if (!key) throw new Error(`the key ring lost ${keyId}`);
  return { key: ringKeyToProto(key) };
}

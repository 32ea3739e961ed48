import type { RingKey } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { isoTime } from "../../rpc/iso-time.ts";

export function shownKey({ keyId, state, publishedAt, validFrom, validUntil, activeSince }: RingKey) {
  return {
    id: keyId,
    state,
    publishedAt: isoTime(publishedAt),
    validFrom: isoTime(validFrom),
    validUntil: isoTime(validUntil),
    activeSince: isoTime(activeSince),
  };
}

import type { MethodImpl } from "@connectrpc/connect";
import type { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { signingKey } from "../../domain/key-ring.ts";
import * as changes from "../../domain/ring-changes.ts";
import { changeRing, type ChangeRingDeps } from "./change-ring.ts";
import { keyOfRing } from "./ring-key-message.ts";

export function revokeKey(deps: ChangeRingDeps): MethodImpl<typeof KeyAdminService.method.revokeKey> {
  return async ({ keyId, emergency }, context) => {
    const ring = await changeRing(deps, context, {
      action: "revoke",
      keyId,
      emergency,
      change: (keys, now) => changes.revokeKey(keys, keyId, now, { emergency }),
    });
    return { ...keyOfRing(ring, keyId), activeKeyId: signingKey(ring)?.keyId ?? "" };
  };
}

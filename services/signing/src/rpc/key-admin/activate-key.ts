import type { MethodImpl } from "@connectrpc/connect";
import type { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import * as changes from "../../domain/ring-changes.ts";
import { changeRing, type ChangeRingDeps } from "./change-ring.ts";
import { keyOfRing } from "./ring-key-message.ts";

export function activateKey(deps: ChangeRingDeps): MethodImpl<typeof KeyAdminService.method.activateKey> {
  return async ({ keyId, emergency }, context) => {
    const ring = await changeRing(deps, context, {
      action: "activate",
      keyId,
      emergency,
      change: (keys, now) => changes.activateKey(keys, keyId, now, { emergency }),
    });
    return keyOfRing(ring, keyId);
  };
}

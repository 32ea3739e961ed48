import type { MethodImpl } from "@connectrpc/connect";
import type { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import * as changes from "../../domain/ring-changes.ts";
import { changeRing, type ChangeRingDeps } from "./change-ring.ts";
import { keyOfRing } from "./ring-key-message.ts";

export function retireKey(deps: ChangeRingDeps): MethodImpl<typeof KeyAdminService.method.retireKey> {
  return async ({ keyId }, context) => {
    const change = { action: "retire", keyId };
    const ring = await changeRing(deps, context, {
      ...change,
      change: (keys, now) => changes.retireKey(keys, keyId, now),
    });
    return keyOfRing(ring, keyId);
  };
}

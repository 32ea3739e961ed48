import type { MethodImpl } from "@connectrpc/connect";
import type { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { DomainError } from "@vidimus/kit/errors";
import { pendingKey } from "../../domain/key-ring.ts";
import { changeRing, type ChangeRingDeps } from "./change-ring.ts";
import { keyOfRing } from "./ring-key-message.ts";

/** There is a limit, because every reader of the trust list gets all pending keys. */
const pendingMax = 8;

export function prepareKey(deps: ChangeRingDeps): MethodImpl<typeof KeyAdminService.method.prepareKey> {
  return async (_, context) => {
    const ring = await changeRing(deps, context, {
      action: "prepare",
      change: async (keys, now) => {
        const pending = keys.filter(({ state }) => state === "pending").length;
        if (pending >= pendingMax) throw new DomainError("failed_precondition", `${pending} keys are pending already`);
        return [...keys, pendingKey(await deps.generate(), now, deps.rules.prepublishMs)];
      },
    });
    return keyOfRing(ring, ring.keys.at(-1)?.keyId ?? "");
  };
}

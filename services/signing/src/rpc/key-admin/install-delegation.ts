import type { MethodImpl } from "@connectrpc/connect";
import type { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { DomainError } from "@vidimus/kit/errors";
import { keyIdOf } from "../../domain/key-id.ts";
import { delegationFault } from "../../domain/delegation.ts";
import { replaceRing } from "../../domain/update-ring.ts";
import { type ChangeRingDeps, operatorChangedRing, requireOperator, verified } from "./change-ring.ts";
import { listKeyToProto } from "./ring-key-message.ts";

/** Implements `InstallDelegation`. */
export function installDelegation({
  rings,
  log,
  now,
}: ChangeRingDeps): MethodImpl<typeof KeyAdminService.method.installDelegation> {
  return async ({ delegation, rootPublicKey }, context) => {
    const { actor } = requireOperator(context);
    const ring = await verified(() =>
      replaceRing(rings, async (standing) => {
        if (!standing) return undefined;
        const fault = delegationFault(delegation, { listKey: standing.listKey, rootPublicKey, now: now() });
        if (fault) throw invalid(fault);
        return { ...standing, listKey: { ...standing.listKey, delegation } };
      }),
    );
    if (!ring) throw new DomainError("failed_precondition", "there is no key ring yet");
    const rootKeyId = keyIdOf(rootPublicKey);
    log.warn({ action: "delegate", rootKeyId, actor, ringRevision: ring.revision }, operatorChangedRing);
    return { listKey: listKeyToProto(ring.listKey), revision: BigInt(ring.revision) };
  };
}

function invalid(fault: string): DomainError {
  const message = `the delegation ${fault}`;
  return new DomainError("invalid", message, { violations: [{ pointer: "/delegation", message: fault }] });
}

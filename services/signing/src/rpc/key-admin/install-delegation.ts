import type { MethodImpl } from "@connectrpc/connect";
import type { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { DomainError } from "@vidimus/kit/errors";
import { keyIdOf } from "../../domain/key-id.ts";
import { delegationFault } from "../../domain/delegation.ts";
import type { KeyRing } from "../../domain/key-ring.ts";
import { replaceRing } from "../../domain/update-ring.ts";
import { type ChangeRingDeps, operatorChangedRing, requireOperator, ringEntry, verified } from "./change-ring.ts";
import { listKeyToProto } from "./ring-key-message.ts";

export function installDelegation({
  rings,
  log,
  now,
}: ChangeRingDeps): MethodImpl<typeof KeyAdminService.method.installDelegation> {
  return async ({ delegation, rootPublicKey }, context) => {
    const by = requireOperator(context);
    const rootKeyId = keyIdOf(rootPublicKey);
    const install = async (standing: KeyRing | undefined) => {
      if (!standing) return undefined;
      const fault = delegationFault(delegation, { listKey: standing.listKey, rootPublicKey, now: now() });
      if (fault) throw invalid(fault);
      return { ...standing, listKey: { ...standing.listKey, delegation } };
    };
    const entryOf = ({ listKey }: KeyRing) => ringEntry(by, "install_delegation", listKey.keyId, { rootKeyId });
    const ring = await verified(() => replaceRing(rings, install, entryOf));
    if (!ring) throw new DomainError("failed_precondition", "there is no key ring yet");
    const { actor, identity } = by;
    const line = { action: "install_delegation", rootKeyId, actor, identity, ringRevision: ring.revision };
    log.warn(line, operatorChangedRing);
    return { listKey: listKeyToProto(ring.listKey), revision: BigInt(ring.revision) };
  };
}

function invalid(fault: string): DomainError {
  const message = `the delegation ${fault}`;
  return new DomainError("invalid", message, { violations: [{ pointer: "/delegation", message: fault }] });
}

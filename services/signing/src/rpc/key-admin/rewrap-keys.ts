import type { MethodImpl } from "@connectrpc/connect";
import type { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { DomainError } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { KeyCustody } from "../../domain/key-custody.ts";
import type { SealedRings } from "../../domain/sealed-rings.ts";
import type { SignerStore } from "../../store/signer-store.ts";
import { operatorChangedRing, requireOperator, ringEntry, verified } from "./change-ring.ts";

export interface RewrapKeysDeps {
  rings: Pick<SealedRings, "rewrap">;
  custody: Pick<KeyCustody, "kekIds">;
  signers: Pick<SignerStore, "countWithout">;
  log: Pick<Logger, "warn">;
}

export function rewrapKeys(deps: RewrapKeysDeps): MethodImpl<typeof KeyAdminService.method.rewrapKeys> {
  return async (_, context) => {
    const by = requireOperator(context);
    const [kekId] = deps.custody.kekIds;
    if (kekId === undefined) throw new DomainError("failed_precondition", "no KEK of this process wraps the keys");
    const without = await deps.signers.countWithout(kekId);
    if (without > 0) {
      const who = without === 1 ? "one signing process does" : `${without} signing processes do`;
      throw new DomainError("failed_precondition", `${who} not hold the KEK ${kekId}, and could not sign any more`);
    }
    const rewrapped = await verified(() => deps.rings.rewrap(ringEntry(by, "rewrap_keys", kekId, {})));
    if (!rewrapped) throw new DomainError("failed_precondition", "there is no key ring yet: signing was never on");
    const { ring, isChanged } = rewrapped;
    const ringRevision = ring.revision;
    const { actor, identity } = by;
    if (isChanged) deps.log.warn({ action: "rewrap", kekId, actor, identity, ringRevision }, operatorChangedRing);
    const privateKeys = [...ring.keys, ring.listKey].filter(({ sealed }) => sealed).length;
    return { kekId, privateKeys, changed: isChanged, revision: BigInt(ringRevision) };
  };
}

import type { MethodImpl } from "@connectrpc/connect";
import type { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { DomainError } from "@vidimus/kit/errors";
import { auditLedger as audit } from "../../domain/audit-ledger.ts";
import type { LedgerBatch } from "../../domain/ledger.ts";
import type { SealedRings } from "../../domain/sealed-rings.ts";
import { requireOperator, verified } from "./change-ring.ts";

export interface AuditLedgerDeps {
  rings: Pick<SealedRings, "read" | "sealKey">;
  ledger: { batches(signal: AbortSignal): AsyncIterable<LedgerBatch> };
}

/** Implements `AuditLedger`. INVALID_ARGUMENT when the noted head is none. */
export function auditLedger({ rings, ledger }: AuditLedgerDeps): MethodImpl<typeof KeyAdminService.method.auditLedger> {
  return async ({ notedHead }, context) => {
    requireOperator(context);
    if (!/^([0-9a-f]{64})?$/.test(notedHead)) {
      throw new DomainError("invalid", "noted_head must be 64 hex digits", {
        violations: [{ pointer: "/notedHead", message: "must be 64 hex digits" }],
      });
    }
    const readRing = async () => {
      const ring = await verified(() => rings.read());
      if (ring) return ring;
      throw new DomainError("failed_precondition", "there is no key ring yet: signing was never on");
    };
    await readRing();
    const batches = ledger.batches(context.signal);
    const noted = notedHead === "" ? undefined : notedHead;
    const report = await audit({ batches, sealKey: rings.sealKey(), readRing, notedHead: noted });
    const { head, fault = "" } = report;
    return { batches: BigInt(report.batches), entries: BigInt(report.entries), head, fault };
  };
}

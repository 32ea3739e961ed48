import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MethodImpl } from "@connectrpc/connect";
import type {
  DocumentsComparisonSchema,
  KeyAdminService,
} from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { DomainError } from "@vidimus/kit/errors";
import { auditLedger as audit } from "../../domain/audit-ledger.ts";
import { type Comparison, compareSignatures, type HeldSignatures } from "../../domain/compare-signatures.ts";
import type { SealedRings } from "../../domain/sealed-rings.ts";
import type { LedgerStore } from "../../store/ledger-store.ts";
import { requireOperator, verified } from "./change-ring.ts";

export interface AuditLedgerDeps {
  rings: Pick<SealedRings, "read" | "sealKey">;
  ledger: Pick<LedgerStore, "batches" | "entriesOf">;
  /** Undefined without DOCUMENTS_TARGET: the audit then does not ask documents. */
  held: HeldSignatures | undefined;
}

/**
 * Answers INVALID_ARGUMENT when the noted head is malformed, FAILED_PRECONDITION before the first
 * ring, and UNAVAILABLE when the ring cannot be used or documents cannot be reached.
 */
export function auditLedger({
  rings,
  ledger,
  held,
}: AuditLedgerDeps): MethodImpl<typeof KeyAdminService.method.auditLedger> {
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
    const { keys } = await readRing();
    const revoked = new Set(keys.flatMap(({ keyId, state }) => (state === "revoked" ? keyId : [])));
    const isRevoked = (keyId: string) => revoked.has(keyId);
    const batches = ledger.batches(context.signal);
    const noted = notedHead === "" ? undefined : notedHead;
    const report = await audit({ batches, sealKey: rings.sealKey(), readRing, notedHead: noted });
    const comparison =
      held && report.fault === undefined
        ? await compareSignatures({ ledger, held, isRevoked, signal: context.signal })
        : undefined;
    const { head, fault = comparison?.fault ?? "" } = report;
    const found = { batches: BigInt(report.batches), entries: BigInt(report.entries), head, fault };
    return { ...found, ...(comparison && { documents: toProto(comparison) }) };
  };
}

function toProto(found: Comparison): MessageInitShape<typeof DocumentsComparisonSchema> {
  return {
    signatures: BigInt(found.signatures),
    outdated: BigInt(found.outdated),
    unsettled: BigInt(found.unsettled),
    revoked: BigInt(found.revoked),
  };
}

import type { SealKey } from "./key-custody.ts";
import type { KeyRing } from "./key-ring.ts";
import { type LedgerBatch, macOf } from "./ledger.ts";
import { checkSignature } from "./standing-signature.ts";

interface AuditReport {
  readonly batches: number;
  readonly entries: number;
  /** The `mac` of the last batch that was found intact, in hex; "" when there is none. */
  readonly head: string;
  /** The first fault; undefined when the ledger is intact. */
  readonly fault: string | undefined;
}

interface AuditOptions {
  /** In the order of their numbers. */
  batches: AsyncIterable<LedgerBatch>;
  sealKey: SealKey;
  readRing(): Promise<KeyRing>;
  /** A head from an earlier audit or from the log; undefined to check none. */
  notedHead: string | undefined;
}

/**
 * Checks the whole ledger: that no batch is missing, changed or inserted, that each signature was
 * made by a key of the ring, and that the ledger still contains the noted head. Without a noted
 * head, removing batches from the end goes unnoticed.
 */
export async function auditLedger({ batches, sealKey, readRing, notedHead }: AuditOptions): Promise<AuditReport> {
  let ring = await readRing();
  let last: LedgerBatch | undefined;
  let entries = 0;
  let hasNoted = notedHead === undefined;
  const report = (fault: string | undefined): AuditReport => {
    return { batches: last?.number ?? 0, entries, head: last ? hexOf(last.mac) : "", fault };
  };
  for await (const batch of batches) {
    // The batch may have been added, under a newer ring, after the audit began.
    if (batch.ringRevision > ring.revision) ring = await readRing();
    const fault = await faultOf(batch, last, sealKey, ring);
    if (fault) return report(fault);
    last = batch;
    entries += batch.entries.length;
    hasNoted ||= hexOf(batch.mac) === notedHead;
  }
  return report(hasNoted ? undefined : `no batch has the noted head ${notedHead}: batches were cut off at the end`);
}

async function faultOf(
  batch: LedgerBatch,
  last: LedgerBatch | undefined,
  sealKey: SealKey,
  ring: KeyRing,
): Promise<string | undefined> {
  const { number, prev, ringRevision, entries } = batch;
  const expected = (last?.number ?? 0) + 1;
  if (number !== expected) return `batch ${expected} is missing`;
  const mac = await macOf(batch, sealKey);
  if (hexOf(mac) !== hexOf(batch.mac)) return `batch ${number} was changed, or planted`;
  if (hexOf(prev) !== (last ? hexOf(last.mac) : "")) return `batch ${number} does not follow batch ${number - 1}`;
  if (ringRevision > ring.revision) {
    return `batch ${number} was signed under revision ${ringRevision} of the key ring, which is at ${ring.revision}`;
  }
  const forged = entries.find((entry) => checkSignature(entry, ring).kind === "forged");
  return forged && `batch ${number}: no key of the ring made the signature of ${forged.snapshotKey}`;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

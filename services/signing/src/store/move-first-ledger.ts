import { ConfigError } from "@vidimus/kit/env";
import type { Binary, Collection, Db } from "mongodb";
import type { KeyRing } from "../domain/key-ring.ts";
import { type Ledger, type LedgerEntry, snapshotKeyOf } from "../domain/ledger.ts";
import { checkSignature } from "../domain/standing-signature.ts";

/** A row of version 0.1.0: one for each signature. */
interface FirstRow {
  tenantId: string;
  documentId: string;
  sequence: number;
  statement: string;
  value: Binary;
}

const batchRows = 256;

/**
 * Checks that no signatures are left where version 0.1.0 kept them: they would be made a second time.
 *
 * @throws ConfigError
 */
export async function assertNoFirstLedger(db: Db): Promise<void> {
  if (await firstLedger(db).findOne({}, { projection: { _id: 1 }, maxTimeMS: 5_000 })) {
    throw new ConfigError("the ledger is that of version 0.1.0: run `npm run migrate:signing`");
  }
}

/**
 * Moves the signatures of version 0.1.0 into batches. Each is verified with a key of the ring before.
 * When it is interrupted, it goes on where it was: what is in the ledger is not stored twice.
 *
 * @returns how many signatures it moved
 * @throws Error naming a signature that no key of the ring made
 */
export async function moveFirstLedger(db: Db, ledger: Ledger, ring: KeyRing): Promise<number> {
  const rows = firstLedger(db);
  let moved = 0;
  for (;;) {
    const found = await rows.find({}, { sort: { _id: 1 }, limit: batchRows }).toArray();
    if (found.length === 0) return moved;
    const entries = found.map((row) => genuineEntry(row, ring));
    const standing = await ledger.record(entries, ring.revision);
    const other = entries.find(({ value }, index) => Buffer.compare(value, standing[index]?.value ?? value) !== 0);
    if (other) throw new Error(`the ledger holds another signature of ${other.snapshotKey}`);
    await rows.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
    moved += found.length;
  }
}

function genuineEntry(row: FirstRow, ring: KeyRing): LedgerEntry {
  const entry = {
    snapshotKey: snapshotKeyOf(row),
    signing: 1,
    statement: row.statement,
    value: row.value.value(),
  };
  if (checkSignature(entry, ring).kind !== "forged") return entry;
  throw new Error(`no key of the ring made the signature of ${entry.snapshotKey}`);
}

function firstLedger(db: Db): Collection<FirstRow> {
  return db.collection("ledger");
}

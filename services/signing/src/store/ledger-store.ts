import { DomainError } from "@vidimus/kit/errors";
import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import { Binary, type Collection, type Db } from "mongodb";
import type { Ledger, LedgerEntry } from "../domain/sign-digests.ts";

interface LedgerRow {
  tenantId: string;
  documentId: string;
  sequence: number;
  sha256: Binary;
  keyId: string;
  signedAt: Date;
  statement: string;
  value: Binary;
}

/** Keeps every signature. Unique on (tenantId, documentId, sequence). */
export class LedgerStore implements Ledger {
  readonly #rows: Collection<LedgerRow>;

  constructor(db: Db) {
    this.#rows = db.collection("ledger");
  }

  async ensureIndexes(): Promise<void> {
    await this.#rows.createIndex({ tenantId: 1, documentId: 1, sequence: 1 }, { unique: true });
  }

  /** Whether anything was ever signed. */
  async hasSignatures(): Promise<boolean> {
    return (await this.#rows.findOne({}, { projection: { _id: 1 }, maxTimeMS: 5_000 })) !== null;
  }

  async record(entries: readonly LedgerEntry[]): Promise<LedgerEntry[]> {
    const refused = await this.#insert(entries);
    const standing = await this.#find(entries.filter((_, position) => refused.has(position)));
    return entries.map((entry, position) => (refused.has(position) ? standingFor(entry, standing) : entry));
  }

  async #insert(entries: readonly LedgerEntry[]): Promise<Set<number>> {
    try {
      await this.#rows.insertMany(entries.map(toRow), { ordered: false });
      return new Set();
    } catch (error) {
      return duplicatePositions(error);
    }
  }

  async #find(entries: readonly LedgerEntry[]): Promise<Map<string, LedgerEntry>> {
    if (entries.length === 0) return new Map();
    const keys = entries.map(({ tenantId, documentId, sequence }) => ({ tenantId, documentId, sequence }));
    const rows = await this.#rows.find({ $or: keys }, { maxTimeMS: 10_000 }).toArray();
    return new Map(rows.map((row) => [keyOf(row), fromRow(row)]));
  }
}

/**
 * A duplicate is reported only after a majority holds the earlier row, so it can be read, unless
 * the primary changed in between.
 */
function standingFor(entry: LedgerEntry, standing: ReadonlyMap<string, LedgerEntry>): LedgerEntry {
  const found = standing.get(keyOf(entry));
  if (found) return found;
  throw new DomainError("unavailable", "a signature stored earlier cannot be read yet");
}

function keyOf({ tenantId, documentId, sequence }: LedgerEntry | LedgerRow): string {
  return `${tenantId}\n${documentId}\n${sequence}`;
}

function toRow({ sha256, value, ...entry }: LedgerEntry): LedgerRow {
  return { ...entry, sha256: new Binary(sha256), value: new Binary(value) };
}

function fromRow(row: LedgerRow): LedgerEntry {
  const { tenantId, documentId, sequence, keyId, signedAt, statement } = row;
  const sha256 = row.sha256.value();
  return { tenantId, documentId, sequence, sha256, keyId, signedAt, statement, value: row.value.value() };
}

import type { LedgerBatch, LedgerEntry } from "./ledger.ts";
import { parseStatement } from "./statement.ts";

/** What documents holds as the signature of one snapshot. */
export interface HeldSignature {
  /** `snapshotKeyOf` of the snapshot. */
  readonly snapshotKey: string;
  /**
   * Undefined until delivery has handed the signature to documents; it never does for a snapshot
   * that cannot be sent.
   */
  readonly signature: { readonly statement: string; readonly value: Uint8Array } | undefined;
}

/** The signatures that documents holds: `documents-signatures.ts`. */
export interface HeldSignatures {
  /** The signatures of all snapshots that have one. */
  pages(signal: AbortSignal): AsyncIterable<readonly HeldSignature[]>;
  /** One for each named snapshot that documents has, also for one without a signature. */
  get(snapshotKeys: readonly string[], signal: AbortSignal): Promise<readonly HeldSignature[]>;
}

export interface Comparison {
  /** Number of documents' signatures that the ledger has. */
  readonly signatures: number;
  /** How many of these `signatures` the ledger has a newer signature for. */
  readonly outdated: number;
  /** Number of snapshots in the ledger whose signature documents does not hold yet. */
  readonly unsettled: number;
  /** Number of documents' signatures that were made by revoked keys. */
  readonly revoked: number;
  /** The first difference; undefined without one. */
  readonly fault: string | undefined;
}

interface CompareOptions {
  ledger: {
    batches(signal: AbortSignal): AsyncIterable<Pick<LedgerBatch, "entries">>;
    /** All entries of each snapshot; a snapshot without one is left out. */
    entriesOf(snapshotKeys: readonly string[], signal: AbortSignal): Promise<Map<string, LedgerEntry[]>>;
  };
  held: HeldSignatures;
  isRevoked(keyId: string): boolean;
  signal: AbortSignal;
}

const keysMax = 256;

/**
 * Compares the ledger with the signatures that documents holds, in both directions. documents is an
 * independent witness: it has another database, and neither the KEK nor a key of the ring. A ledger
 * that was cut off, or rewritten with the KEK, lacks signatures that documents holds; and a
 * snapshot that was signed without documents does not exist there.
 */
export async function compareSignatures({ ledger, held, isRevoked, signal }: CompareOptions): Promise<Comparison> {
  const found = { signatures: 0, outdated: 0, unsettled: 0, revoked: 0 };
  // Read the ledger before documents' signatures: when `unsettled` is 0, they then include one of
  // every snapshot in the ledger.
  for await (const { entries } of ledger.batches(signal)) {
    const first = entries.filter(({ signing }) => signing === 1).map(({ snapshotKey }) => snapshotKey);
    for (const some of chunks(first)) {
      const snapshots = new Map((await held.get(some, signal)).map((each) => [each.snapshotKey, each]));
      const missing = some.find((snapshotKey) => !snapshots.has(snapshotKey));
      if (missing !== undefined) {
        return { ...found, fault: `${missing} was signed, and documents has no such snapshot` };
      }
      found.unsettled += snapshots
        .values()
        .filter(({ signature }) => !signature)
        .toArray().length;
    }
  }
  for await (const page of held.pages(signal)) {
    for (const some of chunks(page)) {
      const entries = await ledger.entriesOf(
        some.map(({ snapshotKey }) => snapshotKey),
        signal,
      );
      for (const each of some) {
        const standing = entries.get(each.snapshotKey) ?? [];
        const same = newestOf(standing.filter((entry) => isSame(entry, each)));
        if (!same) return { ...found, fault: faultOf(each.snapshotKey, standing) };
        found.signatures += 1;
        if (standing.some(({ signing }) => signing > same.signing)) found.outdated += 1;
        if (isRevoked(parseStatement(same.statement)?.keyId ?? "")) found.revoked += 1;
      }
    }
  }
  return { ...found, fault: undefined };
}

function faultOf(snapshotKey: string, standing: readonly LedgerEntry[]): string {
  if (standing.length === 0) return `documents holds a signature of ${snapshotKey} that the ledger does not have`;
  return `documents holds another signature of ${snapshotKey} than the ledger`;
}

/**
 * `adoptSignatures` may have stored a signature under a higher signing number and under 1. The
 * higher one counts: by the other one the signature would look outdated because of its own copy.
 */
function newestOf(entries: readonly LedgerEntry[]): LedgerEntry | undefined {
  return entries.toSorted((one, other) => other.signing - one.signing)[0];
}

function isSame({ statement, value }: LedgerEntry, { signature }: HeldSignature): boolean {
  return signature?.statement === statement && Buffer.compare(signature.value, value) === 0;
}

function* chunks<T>(all: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < all.length; at += keysMax) yield all.slice(at, at + keysMax);
}

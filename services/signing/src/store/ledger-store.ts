import { DomainError } from "@vidimus/kit/errors";
import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { Binary, type Collection, type Db, MongoServerError } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import type { SealKey } from "../domain/key-custody.ts";
import { type Ledger, type LedgerBatch, type LedgerEntry, type LedgerHead, macOf } from "../domain/ledger.ts";

interface EntryRow {
  snapshotKey: string;
  signing: number;
  statement: string;
  value: Binary;
}

interface BatchRow {
  /** The batch's number. When two processes insert the same number, one of them tries again. */
  _id: number;
  prev: Binary;
  mac: Binary;
  ringRevision: number;
  entries: EntryRow[];
}

/** What one call of `record` passes. */
interface Recording {
  readonly entries: readonly LedgerEntry[];
  readonly ringRevision: number;
}

/** Most entries of a batch: 256 KB at 0.5 KB each, far below the 16 MB of a document. */
const batchEntriesMax = 512;

/**
 * Most attempts of an insert. One of the processes that insert the same number succeeds, so a few
 * processes need far fewer.
 */
const attemptsMax = 60;

/**
 * Keeps every signature, in chained batches. A batch is one document, so it is stored completely or
 * not at all.
 */
export class LedgerStore implements Ledger {
  static readonly indexes = {
    ledger: { signature: { key: { "entries.snapshotKey": 1, "entries.signing": 1 }, unique: true } },
  } as const satisfies DatabaseIndexes;
  readonly #batches: Collection<BatchRow>;
  readonly #sealKey: () => SealKey;
  readonly #record: (recording: Recording) => Promise<LedgerEntry[]>;
  /** The last batch that this process knows. */
  #head: LedgerHead | undefined;

  /** @param sealKey returns the seal key of the last read ring */
  constructor(db: Db, sealKey: () => SealKey) {
    this.#batches = db.collection("ledger");
    this.#sealKey = sealKey;
    this.#record = createBatcher({
      run: (recordings: Recording[]) => this.#recordAll(recordings),
      itemsMax: batchEntriesMax,
      bytesMax: batchEntriesMax,
      sizeOf: ({ entries }) => entries.length,
    });
  }

  /** The last batch; undefined while the ledger is empty. */
  async head(): Promise<LedgerHead | undefined> {
    const row = await this.#batches.findOne({}, { sort: { _id: -1 }, projection: { entries: 0 }, maxTimeMS: 5_000 });
    return row ? { number: row._id, mac: row.mac.value(), ringRevision: row.ringRevision } : undefined;
  }

  /** The highest sequence of any signed document; 0 without one. Reads the whole ledger. */
  async highestSequence(): Promise<number> {
    const sequence = { $toDouble: { $last: { $split: ["$entries.snapshotKey", "/"] } } };
    const pipeline = [{ $unwind: "$entries" }, { $group: { _id: null, highest: { $max: sequence } } }];
    const [found] = await this.#batches.aggregate<{ highest: number }>(pipeline).toArray();
    return found?.highest ?? 0;
  }

  async *batches(signal?: AbortSignal): AsyncIterable<LedgerBatch> {
    const rows = this.#batches.find({}, { sort: { _id: 1 }, batchSize: 100, ...(signal && { signal }) });
    for await (const row of rows) yield fromRow(row);
  }

  async record(entries: readonly LedgerEntry[], ringRevision: number): Promise<LedgerEntry[]> {
    return this.#record({ entries, ringRevision });
  }

  async #recordAll(recordings: Recording[]): Promise<LedgerEntry[][]> {
    const entries = recordings.flatMap((recording) => recording.entries);
    const ringRevision = Math.min(...recordings.map((recording) => recording.ringRevision));
    const newest = new Map<string, LedgerEntry>();
    // When several calls sign the same snapshot, only the first entry is inserted. `signDigests`
    // repeats the call when it needs an entry with a higher signing number.
    const first = new Map<string, LedgerEntry>();
    for (const entry of entries) if (!first.has(entry.snapshotKey)) first.set(entry.snapshotKey, entry);
    let due = [...first.values()];
    for (let attempt = 0; due.length > 0; attempt += 1) {
      if (attempt === attemptsMax) throw new DomainError("unavailable", "other processes sign all the time");
      const outcome = await this.#insert(due, ringRevision);
      if (outcome === "stored") {
        for (const entry of due) newest.set(entry.snapshotKey, entry);
        due = [];
      } else if (outcome === "known") {
        const standing = await this.#find(due);
        const known = due.filter((entry) => isKnown(entry, standing));
        if (known.length === 0) throw new DomainError("unavailable", "a signature stored earlier cannot be read yet");
        for (const { snapshotKey } of known) newest.set(snapshotKey, required(standing, snapshotKey));
        due = due.filter((entry) => !isKnown(entry, standing));
      } else {
        await pause(Math.random() * Math.min(attempt, 10));
      }
    }
    return recordings.map((recording) => recording.entries.map(({ snapshotKey }) => required(newest, snapshotKey)));
  }

  /**
   * `lost`: another process inserted this number; `known`: the ledger has one of the entries
   * already.
   */
  async #insert(entries: readonly LedgerEntry[], ringRevision: number): Promise<"stored" | "known" | "lost"> {
    const head = (this.#head ??= await this.head());
    const unsealed = { number: (head?.number ?? 0) + 1, prev: head?.mac ?? new Uint8Array(), ringRevision, entries };
    const batch = { ...unsealed, mac: await macOf(unsealed, this.#sealKey()) };
    try {
      await this.#batches.insertOne(toRow(batch));
      this.#head = batch;
      return "stored";
    } catch (error) {
      // The head is read again after every failure: a network error leaves open whether the batch
      // was stored.
      this.#head = undefined;
      if (isDuplicateKey(error)) return isNumberTaken(error) ? "lost" : "known";
      throw error;
    }
  }

  /** The newest entry of each snapshot. */
  async #find(entries: readonly LedgerEntry[]): Promise<Map<string, LedgerEntry>> {
    const found = await this.entriesOf(entries.map(({ snapshotKey }) => snapshotKey));
    const newest = (all: LedgerEntry[]) => all.reduce((one, other) => (other.signing > one.signing ? other : one));
    return new Map(found.entries().map(([snapshotKey, all]) => [snapshotKey, newest(all)]));
  }

  /**
   * All entries of each snapshot; a snapshot without one is left out. Reads with majority concern,
   * so that no signature is handed out that a failover rolls back.
   */
  async entriesOf(snapshotKeys: readonly string[], signal?: AbortSignal): Promise<Map<string, LedgerEntry[]>> {
    const keys = [...snapshotKeys];
    const isWanted = { $in: ["$$entry.snapshotKey", keys] };
    const rows = this.#batches.aggregate<{ entries: EntryRow[] }>(
      [
        { $match: { "entries.snapshotKey": { $in: keys } } },
        { $project: { entries: { $filter: { input: "$entries", as: "entry", cond: isWanted } } } },
      ],
      { maxTimeMS: 10_000, readConcern: "majority", ...(signal && { signal }) },
    );
    const found: LedgerEntry[] = [];
    for await (const row of rows) found.push(...row.entries.map(fromEntryRow));
    return Map.groupBy(found, ({ snapshotKey }) => snapshotKey);
  }
}

function isKnown({ snapshotKey, signing }: LedgerEntry, standing: ReadonlyMap<string, LedgerEntry>): boolean {
  return (standing.get(snapshotKey)?.signing ?? 0) >= signing;
}

function required(entries: ReadonlyMap<string, LedgerEntry>, snapshotKey: string): LedgerEntry {
  const found = entries.get(snapshotKey);
  if (!found) throw new Error(`the ledger lost ${snapshotKey}`);
  return found;
}

function isNumberTaken(error: unknown): boolean {
  return error instanceof MongoServerError && "_id" in (error["keyPattern"] ?? {});
}

function toRow({ number, prev, mac, ringRevision, entries }: LedgerBatch): BatchRow {
  const rows = entries.map(({ value, ...entry }) => ({ ...entry, value: new Binary(value) }));
  return { _id: number, prev: new Binary(prev), mac: new Binary(mac), ringRevision, entries: rows };
}

function fromRow({ _id, prev, mac, ringRevision, entries }: BatchRow): LedgerBatch {
  return { number: _id, prev: prev.value(), mac: mac.value(), ringRevision, entries: entries.map(fromEntryRow) };
}

function fromEntryRow({ snapshotKey, signing, statement, value }: EntryRow): LedgerEntry {
  return { snapshotKey, signing, statement, value: value.value() };
}

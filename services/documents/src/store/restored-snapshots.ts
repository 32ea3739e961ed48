import type { ClientSession, Collection, Db, MongoClient } from "mongodb";
import type { SnapshotKey } from "../domain/snapshots/snapshot-feed.ts";
import type { PublicationRow } from "./publication-row.ts";
import { transactionOptions } from "./run-transaction.ts";
import type { HeadRow, HistoryRow, SnapshotRow } from "./rows.ts";
import { groupSnapshots } from "./snapshot-groups.ts";
import { SnapshotStore } from "./snapshot-store.ts";

/** A stored signature in the form that signing's `restore.ts` reads. */
interface SignatureLine extends SnapshotKey {
  readonly statement: string;
  readonly signingNumber: number;
  /** Base64. */
  readonly value: string;
}

const byKey = SnapshotStore.indexes.snapshots.sequence.key;
const keyColumns = { _id: 0, tenantId: 1, documentId: 1, sequence: 1 } as const;

type DocumentKey = Omit<SnapshotKey, "sequence">;

/** Reads and renumbers snapshots of a restored database. No documents process may run meanwhile. */
export class RestoredSnapshots {
  readonly #client: MongoClient;
  readonly #snapshots: Collection<SnapshotRow>;
  readonly #heads: Collection<HeadRow>;
  readonly #publications: Collection<PublicationRow>;
  readonly #history: Collection<HistoryRow>;

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#snapshots = db.collection("snapshots");
    this.#heads = db.collection("heads");
    this.#publications = db.collection("publications");
    this.#history = db.collection("history");
  }

  /** The highest sequence of any document, 0 without one; reads only an index. */
  async highestSequence(): Promise<number> {
    const pipeline = [{ $match: { tenantId: { $gt: "" } } }, { $group: { _id: null, highest: { $max: "$sequence" } } }];
    const [found] = await this.#snapshots.aggregate<{ highest: number }>(pipeline, { hint: byKey }).toArray();
    return found?.highest ?? 0;
  }

  /**
   * Documents with a pending snapshot whose sequence is not above the floor, each with the lowest
   * such sequence.
   */
  async pendingBelow(floor: number): Promise<SnapshotKey[]> {
    const lowest = { tenantId: { $first: "$tenantId" }, documentId: { $first: "$documentId" } };
    const _id = { tenantId: "$tenantId", documentId: "$documentId" };
    return this.#snapshots
      .aggregate<SnapshotKey>([
        { $match: { pending: true, sequence: { $lte: floor } } },
        { $group: { _id, ...lowest, sequence: { $min: "$sequence" } } },
        { $project: { _id: 0 } },
      ])
      .toArray();
  }

  /**
   * Gives a document's snapshots, from its lowest pending one on, sequences above the floor. They
   * lose their signatures and become pending, so delivery sends them in order as new snapshots.
   * Receivers keep what they got under the old sequences before the restore.
   *
   * @returns the number of renumbered snapshots
   * @throws Error when the head does not name the newest snapshot
   */
  async renumber({ sequence: lowest, ...document }: SnapshotKey, floor: number): Promise<number> {
    return this.#client.withSession((session) =>
      session.withTransaction(async () => {
        const options = { session };
        const found = this.#snapshots.find({ ...document, sequence: { $gte: lowest } }, options);
        const rows = await found
          .sort({ sequence: 1 })
          .project<Pick<SnapshotKey, "sequence">>({ sequence: 1 })
          .toArray();
        const newest = rows.at(-1)?.sequence ?? 0;
        const above = Math.max(floor, newest);
        for (const [index, { sequence }] of rows.entries()) {
          const renumbered = { sequence: above + index + 1, pending: true as const };
          const update = { $set: renumbered, $unset: { signature: 1 as const } };
          await this.#snapshots.updateOne({ ...document, sequence }, update, options);
          // A repeated request is answered with the sequence in its history entry.
          const answer = { $set: { "request.sequence": renumbered.sequence } };
          await this.#history.updateOne({ ...document, "request.sequence": sequence }, answer, options);
        }
        await this.#moveHead(document, newest, above + rows.length, options);
        return rows.length;
      }, transactionOptions),
    );
  }

  async #moveHead(document: DocumentKey, from: number, to: number, options: { session: ClientSession }): Promise<void> {
    const { matchedCount } = await this.#heads.updateOne(
      { ...document, "lastPublished.sequence": from },
      { $set: { "lastPublished.sequence": to } },
      options,
    );
    if (matchedCount === 0) throw new Error(`the head of ${document.documentId} names no snapshot ${from}`);
    await this.#publications.updateOne({ ...document, sequence: from }, { $set: { sequence: to } }, options);
  }

  async *signatures(): AsyncGenerator<SignatureLine> {
    const columns = { ...keyColumns, signature: 1 };
    const rows = this.#snapshots.find({ signature: { $exists: true } }, { sort: byKey, hint: byKey });
    for await (const { signature, ...key } of rows.project<SnapshotKey & Pick<SnapshotRow, "signature">>(columns)) {
      if (!signature) continue;
      const { statement, signingNumber, value } = signature;
      yield { ...key, statement, signingNumber, value: value.toString("base64") };
    }
  }

  async missing(keys: readonly SnapshotKey[]): Promise<SnapshotKey[]> {
    if (keys.length === 0) return [];
    const filters = groupSnapshots(keys).map(({ filter }) => filter);
    const rows = await this.#snapshots.find({ $or: filters }).project<SnapshotKey>(keyColumns).toArray();
    const known = new Set(rows.map(nameOf));
    return keys.filter((key) => !known.has(nameOf(key)));
  }
}

function nameOf({ tenantId, documentId, sequence }: SnapshotKey): string {
  return `${tenantId}/${documentId}/${sequence}`;
}

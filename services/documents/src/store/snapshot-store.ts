import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { isMongoUnavailable } from "@vidimus/kit/mongo/mongo-errors";
import { type AnyBulkWriteOperation, type BulkWriteResult, type Collection, type Db } from "mongodb";
import type {
  CommittedSnapshot,
  PublishedVersion,
  SignedSnapshot,
  SnapshotKey,
  SnapshotQuery,
  SnapshotSettlement,
} from "../domain/snapshots/snapshot-feed.ts";
import { readRows } from "./read-rows.ts";
import type { SnapshotRow } from "./rows.ts";
import { groupSnapshots } from "./snapshot-groups.ts";
import { snapshotFilter } from "./snapshot-filter.ts";
import { settlementOperations } from "./settlement-operations.ts";

const pendingOrder = { committedAt: 1, tenantId: 1, documentId: 1, sequence: 1 } as const;
const isPending = { partialFilterExpression: { pending: true } } as const;
const committedOrder = { committedAt: 1, documentId: 1, sequence: 1 } as const;
const keyColumns = { _id: 0, tenantId: 1, documentId: 1, sequence: 1, committedAt: 1 } as const;
const olderPendingMax = 256;

/** Keeps snapshots. The pending ones are the outbox, from which delivery takes them. */
export class SnapshotStore {
  static readonly indexes = {
    snapshots: {
      sequence: { key: { tenantId: 1, documentId: 1, sequence: 1 }, unique: true },
      version: { key: { tenantId: 1, documentId: 1, status: 1, version: -1, sequence: -1 } },
      // This index and the next stay small, because a settled snapshot leaves them.
      pending: { key: { pending: 1, ...pendingOrder }, ...isPending },
      // Without this index, finding a document's older pending snapshots reads all of the
      // document's snapshots.
      olderPending: { key: { pending: 1, tenantId: 1, documentId: 1, sequence: 1 }, ...isPending },
      // Contains all columns of a list, so that lists read no rows.
      committed: { key: { tenantId: 1, ...committedOrder, type: 1 } },
    },
  } as const satisfies DatabaseIndexes;
  readonly #snapshots: Collection<SnapshotRow>;

  constructor(db: Db) {
    this.#snapshots = db.collection("snapshots");
  }

  /** All tenants' pending snapshots that are behind `after`, ordered by commit and then by key. */
  async listPending(
    query: { limit: number; after?: CommittedSnapshot; committedBefore?: Date },
    signal?: AbortSignal,
  ): Promise<CommittedSnapshot[]> {
    const { after, committedBefore, limit } = query;
    const filter = {
      pending: true as const,
      ...(committedBefore ? { committedAt: { $lte: committedBefore } } : {}),
      ...(after ? { $or: behind(after) } : {}),
    };
    return this.#snapshots
      .find(filter, { ...(signal ? { signal } : {}), maxTimeMS: 10_000 })
      .hint(SnapshotStore.indexes.snapshots.pending.key)
      .sort(pendingOrder)
      .limit(limit)
      .project<CommittedSnapshot>(keyColumns)
      .toArray();
  }

  /** Number of pending snapshots; counting stops at 10,000. */
  async countPending(): Promise<number> {
    const hint = SnapshotStore.indexes.snapshots.pending.key;
    return this.#snapshots.countDocuments({ pending: true }, { hint, limit: 10_000, maxTimeMS: 2_000 });
  }

  /** A tenant's snapshots, pending or not, ordered by commit, document and sequence. */
  async list(tenantId: string, query: SnapshotQuery, signal: AbortSignal): Promise<CommittedSnapshot[]> {
    return this.#snapshots
      .find(snapshotFilter(tenantId, "committedAt", query), { signal, maxTimeMS: 10_000 })
      .sort(committedOrder)
      .limit(query.limit)
      .project<CommittedSnapshot>(keyColumns)
      .toArray();
  }

  /**
   * Snapshots in any order, as many as fit into `bytesMax`, but at least one; `complete` when none
   * was left out.
   */
  async find(
    keys: readonly SnapshotKey[],
    bytesMax: number,
    signal?: AbortSignal,
  ): Promise<{ snapshots: SignedSnapshot[]; complete: boolean }> {
    const options = { projection: { _id: 0 }, ...(signal ? { signal } : {}), maxTimeMS: 10_000 };
    const cursor = this.#snapshots
      .find({ $or: groupSnapshots(keys).map(({ filter }) => filter) }, options)
      // Three indexes begin with the tenant; choosing among them would take a quarter of a read's
      // CPU.
      .hint(SnapshotStore.indexes.snapshots.sequence.key)
      // MongoDB's first batch has 101 rows by default. One more than the number of keys lets it
      // close the cursor with the first batch.
      .batchSize(keys.length + 1);
    const { rows, hasMore } = await readRows(cursor, {
      rowsMax: keys.length,
      bytesMax,
      bytesOf: ({ bytes }) => bytes.length(),
    });
    return { snapshots: rows.map(fromSnapshotRow), complete: !hasMore };
  }

  /**
   * For each document the sequences of its pending snapshots, ascending, the lowest 256 at most.
   * Only sequences below the highest one of all keys are read. Documents without any are left out.
   */
  async olderPending(
    keys: readonly SnapshotKey[],
    signal: AbortSignal,
  ): Promise<(Omit<SnapshotKey, "sequence"> & { sequences: number[] })[]> {
    const $in = (values: readonly string[]) => ({ $in: [...new Set(values)] });
    const filter = {
      pending: true,
      tenantId: $in(keys.map(({ tenantId }) => tenantId)),
      documentId: $in(keys.map(({ documentId }) => documentId)),
      sequence: { $lt: Math.max(...keys.map(({ sequence }) => sequence)) },
    };
    const lowest = { $minN: { input: "$sequence", n: olderPendingMax } };
    const pipeline = [
      { $match: filter },
      { $group: { _id: { tenantId: "$tenantId", documentId: "$documentId" }, sequences: lowest } },
    ];
    return this.#snapshots
      .aggregate<{ _id: Omit<SnapshotKey, "sequence">; sequences: number[] }>(pipeline, { signal, maxTimeMS: 10_000 })
      .map(({ _id, sequences }) => Object.assign(_id, { sequences: sequences.toSorted((a, b) => a - b) }))
      .toArray();
  }

  /**
   * Versions that were usable, newest first, each with its newest usable snapshot; only those below
   * `before` when it is given.
   */
  async listUsableVersions(
    tenantId: string,
    documentId: string,
    page: { limit: number; before?: number },
    signal: AbortSignal,
  ): Promise<PublishedVersion[]> {
    const below = page.before === undefined ? {} : { version: { $lt: page.before } };
    await using cursor = this.#snapshots
      .find({ tenantId, documentId, status: "usable", ...below }, { signal, maxTimeMS: 10_000 })
      .sort({ version: -1, sequence: -1 })
      .project<VersionColumns>({ _id: 0, version: 1, sequence: 1, committedAt: 1, sha256: 1 });
    const versions: PublishedVersion[] = [];
    for await (const { version, sequence, committedAt, sha256 } of cursor) {
      if (versions.at(-1)?.version === version) continue;
      if (versions.length === page.limit) break;
      versions.push({ version, sequence, updatedAt: committedAt, sha256: sha256.value() });
    }
    return versions;
  }

  /**
   * The usable snapshots of a version, ascending: the newest ones that fit into `bytesMax`, but at
   * least one.
   */
  async findUsable(
    tenantId: string,
    documentId: string,
    version: number,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<SignedSnapshot[]> {
    await using cursor = this.#snapshots
      .find({ tenantId, documentId, status: "usable", version }, { projection: { _id: 0 }, signal, maxTimeMS: 10_000 })
      .sort({ sequence: -1 })
      .batchSize(8);
    const snapshots: SignedSnapshot[] = [];
    let bytes = 0;
    for await (const row of cursor) {
      bytes += row.bytes.length();
      if (snapshots.length > 0 && bytes > bytesMax) break;
      snapshots.unshift(fromSnapshotRow(row));
    }
    return snapshots;
  }

  /**
   * Stores the signatures of snapshots, or why they can never be sent, and ends their pending
   * state. Returns how many of the snapshots do not exist.
   */
  async settle(settlements: readonly SnapshotSettlement[]): Promise<number> {
    const { operations, count } = settlementOperations(settlements);
    const { matchedCount } = await this.#update(operations);
    return count - matchedCount;
  }

  /**
   * Repeats the write once when MongoDB was unavailable: the driver repeats updates of single rows,
   * but not `updateMany`. What was settled by the first try, the second leaves as it is.
   */
  async #update(operations: AnyBulkWriteOperation<SnapshotRow>[]): Promise<BulkWriteResult> {
    const write = () => this.#snapshots.bulkWrite(operations, { ordered: false });
    return write().catch((error: unknown) => {
      if (!isMongoUnavailable(error)) throw error;
      return write();
    });
  }
}

type VersionColumns = Pick<SnapshotRow, "version" | "sequence" | "committedAt" | "sha256">;

/** All snapshots behind the given one in `pendingOrder`, as ranges of an index. */
function behind({ committedAt, tenantId, documentId, sequence }: CommittedSnapshot) {
  return [
    { committedAt: { $gt: committedAt } },
    { committedAt, tenantId: { $gt: tenantId } },
    { committedAt, tenantId, documentId: { $gt: documentId } },
    { committedAt, tenantId, documentId, sequence: { $gt: sequence } },
  ];
}

function fromSnapshotRow({ bytes, sha256, signature, unsendable: _unsendable, ...row }: SnapshotRow): SignedSnapshot {
  return {
    ...row,
    bytes: bytes.value(),
    sha256: sha256.value(),
    ...(signature ? { signature: { ...signature, value: signature.value.value() } } : {}),
  };
}

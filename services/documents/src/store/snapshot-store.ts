import { type AnyBulkWriteOperation, Binary, type Collection, type Db } from "mongodb";
import type {
  PendingPosition,
  PublishedVersion,
  SignedSnapshot,
  SnapshotKey,
  SnapshotSignature,
} from "../domain/publication/snapshot-feed.ts";
import type { OutboxRow, SnapshotRow } from "./rows.ts";

const versionIndex = { tenantId: 1, documentId: 1, status: 1, version: -1, sequence: -1 } as const;
const pendingIndex = { committedAt: 1, tenantId: 1, documentId: 1, sequence: 1 } as const;

/** Keeps snapshots and, until delivery has acknowledged them, their outbox rows. */
export class SnapshotStore {
  readonly #snapshots: Collection<SnapshotRow>;
  readonly #outbox: Collection<OutboxRow>;

  constructor(db: Db) {
    this.#snapshots = db.collection("snapshots");
    this.#outbox = db.collection("outbox");
  }

  /** Makes the indexes. Idempotent. */
  async ensureIndexes(): Promise<void> {
    await this.#snapshots.createIndex({ tenantId: 1, documentId: 1, sequence: 1 }, { unique: true });
    await this.#snapshots.createIndex(versionIndex);
    await this.#outbox.createIndex({ tenantId: 1, documentId: 1, sequence: 1 }, { unique: true });
    await this.#outbox.createIndex(pendingIndex);
  }

  /** Open outbox rows of all tenants in the order of `PendingPosition`, behind `after`. */
  async listPending(
    query: { limit: number; after?: PendingPosition; committedBefore?: Date },
    signal?: AbortSignal,
  ): Promise<PendingPosition[]> {
    const { after, committedBefore, limit } = query;
    const filter = {
      ...(committedBefore ? { committedAt: { $lte: committedBefore } } : {}),
      ...(after ? { $or: behind(after) } : {}),
    };
    return this.#outbox
      .find(filter, { ...(signal ? { signal } : {}), maxTimeMS: 10_000 })
      .sort(pendingIndex)
      .limit(limit)
      .project<PendingPosition>({ _id: 0, tenantId: 1, documentId: 1, sequence: 1, committedAt: 1 })
      .toArray();
  }

  /** Snapshots in any order; those that would go beyond `bytesMax` are left out, but for the first. */
  async find(keys: readonly SnapshotKey[], bytesMax: number, signal?: AbortSignal): Promise<SignedSnapshot[]> {
    const snapshots: SignedSnapshot[] = [];
    let bytes = 0;
    await using cursor = this.#snapshots.find(
      { $or: keys.map(plainKey) },
      { projection: { _id: 0 }, ...(signal ? { signal } : {}), maxTimeMS: 10_000 },
    );
    for await (const row of cursor) {
      bytes += row.bytes.length();
      if (snapshots.length > 0 && bytes > bytesMax) break;
      snapshots.push(fromSnapshotRow(row));
    }
    return snapshots;
  }

  /** Versions that were usable, newest first, each with its newest snapshot; below `before` if given. */
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

  /** The usable snapshots of a version, ascending; the newest ones, as many as fit into `bytesMax`, one at least. */
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

  /** Keeps signatures; answers how many of the snapshots exist. */
  async attachSignatures(attachments: readonly { key: SnapshotKey; signature: SnapshotSignature }[]): Promise<number> {
    const operations = attachments.map(({ key, signature }): AnyBulkWriteOperation<SnapshotRow> => {
      const { keyId, statement, value } = signature;
      const update = { $set: { signature: { keyId, statement, value: new Binary(value) } } };
      return { updateOne: { filter: plainKey(key), update } };
    });
    const { matchedCount } = await this.#snapshots.bulkWrite(operations, { ordered: false });
    return matchedCount;
  }

  /** Closes outbox rows; closing a closed one is no fault. */
  async acknowledge(keys: readonly SnapshotKey[]): Promise<void> {
    const operations = keys.map((key) => ({ deleteOne: { filter: plainKey(key) } }));
    await this.#outbox.bulkWrite(operations, { ordered: false });
  }
}

type VersionColumns = Pick<SnapshotRow, "version" | "sequence" | "committedAt" | "sha256">;

function plainKey({ tenantId, documentId, sequence }: SnapshotKey): SnapshotKey {
  return { tenantId, documentId, sequence };
}

/** Every place behind `after`, as the ranges that an index can walk. */
function behind({ committedAt, tenantId, documentId, sequence }: PendingPosition) {
  return [
    { committedAt: { $gt: committedAt } },
    { committedAt, tenantId: { $gt: tenantId } },
    { committedAt, tenantId, documentId: { $gt: documentId } },
    { committedAt, tenantId, documentId, sequence: { $gt: sequence } },
  ];
}

function fromSnapshotRow({ bytes, sha256, signature, ...row }: SnapshotRow): SignedSnapshot {
  return {
    ...row,
    bytes: bytes.value(),
    sha256: sha256.value(),
    ...(signature ? { signature: { ...signature, value: signature.value.value() } } : {}),
  };
}

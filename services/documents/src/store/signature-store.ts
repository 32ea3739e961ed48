import type { Collection, Db } from "mongodb";
import type { HeldSignature, SnapshotKey } from "../domain/snapshots/snapshot-feed.ts";
import type { SnapshotRow } from "./rows.ts";
import { groupSnapshots } from "./snapshot-groups.ts";
import { SnapshotStore } from "./snapshot-store.ts";

const order = SnapshotStore.indexes.snapshots.sequence.key;
const columns = { _id: 0, tenantId: 1, documentId: 1, sequence: 1, signature: 1 } as const;

type SignatureColumns = Pick<SnapshotRow, "tenantId" | "documentId" | "sequence" | "signature">;

export class SignatureStore {
  readonly #snapshots: Collection<SnapshotRow>;

  constructor(db: Db) {
    this.#snapshots = db.collection("snapshots");
  }

  /** The signed snapshots of all tenants in the order of their keys, behind `after`. */
  async list({ limit, after }: { limit: number; after?: SnapshotKey }, signal: AbortSignal): Promise<HeldSignature[]> {
    const rows = await this.#snapshots
      .find({ signature: { $exists: true }, ...(after ? { $or: behind(after) } : {}) }, { signal, maxTimeMS: 30_000 })
      .hint(order)
      .sort(order)
      .limit(limit)
      .project<SignatureColumns>(columns)
      .toArray();
    return rows.map(fromRow);
  }

  /**
   * The signatures of those snapshots that exist, in any order, each with its document's newest
   * sequence.
   */
  async find(keys: readonly SnapshotKey[], signal: AbortSignal): Promise<HeldSignature[]> {
    const [rows, newest] = await Promise.all([
      this.#snapshots
        .find({ $or: groupSnapshots(keys).map(({ filter }) => filter) }, { signal, maxTimeMS: 10_000 })
        .project<SignatureColumns>(columns)
        .toArray(),
      this.#newest(keys, signal),
    ]);
    return rows.map((row) => Object.assign(fromRow(row), newest.get(documentOf(row))));
  }

  /** The highest sequence of each document that `keys` name; reads only the index. */
  async #newest(
    keys: readonly SnapshotKey[],
    signal: AbortSignal,
  ): Promise<Map<string, Pick<HeldSignature, "newestSequence">>> {
    const byTenant = Map.groupBy(keys, ({ tenantId }) => tenantId);
    const ofDocuments = Array.from(byTenant, ([tenantId, own]) => {
      return { tenantId, documentId: { $in: [...new Set(own.map(({ documentId }) => documentId))] } };
    });
    const pipeline = [
      { $match: { $or: ofDocuments } },
      { $group: { _id: { tenantId: "$tenantId", documentId: "$documentId" }, sequence: { $max: "$sequence" } } },
    ];
    const found = this.#snapshots.aggregate<{ _id: Omit<SnapshotKey, "sequence">; sequence: number }>(pipeline, {
      signal,
      maxTimeMS: 10_000,
      hint: order,
    });
    return new Map((await found.toArray()).map(({ _id, sequence }) => [documentOf(_id), { newestSequence: sequence }]));
  }
}

function documentOf({ tenantId, documentId }: Omit<SnapshotKey, "sequence">): string {
  return `${tenantId}/${documentId}`;
}

/** All keys behind the given one, as ranges of an index. */
function behind({ tenantId, documentId, sequence }: SnapshotKey) {
  return [
    { tenantId: { $gt: tenantId } },
    { tenantId, documentId: { $gt: documentId } },
    { tenantId, documentId, sequence: { $gt: sequence } },
  ];
}

function fromRow({ signature, ...key }: SignatureColumns): HeldSignature {
  if (!signature) return key;
  return { ...key, signature: { ...signature, value: signature.value.value() } };
}

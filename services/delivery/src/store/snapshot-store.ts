import { duplicatePositions } from "@vidimus/kit/mongo-errors";
import { Binary, type Collection, type Db } from "mongodb";
import type { Payload, Reference } from "../domain/payload.ts";
import type { SnapshotRow } from "./rows.ts";

/** Keeps payloads. */
export class SnapshotStore {
  readonly #snapshots: Collection<SnapshotRow>;

  constructor(db: Db) {
    this.#snapshots = db.collection("snapshots");
  }

  /** Stores payloads whose deliveries are stored. Those already there stay as they are. */
  async insert(payloads: readonly (Reference & { payload: Payload })[], now: Date): Promise<void> {
    const rows = payloads.map((each) => toRow(each, now));
    try {
      await this.#snapshots.insertMany(rows, { ordered: false });
    } catch (error) {
      duplicatePositions(error);
    }
  }

  /** Which of these webhook ids are stored. */
  async stored(webhookIds: readonly string[]): Promise<Set<string>> {
    const found = this.#snapshots.find({ _id: { $in: [...webhookIds] } }, { projection: { _id: 1 } });
    return new Set((await found.toArray()).map(({ _id }) => _id));
  }

  async findMany(webhookIds: readonly string[]): Promise<Payload[]> {
    return (await this.#snapshots.find({ _id: { $in: [...webhookIds] } }).toArray()).map(fromRow);
  }
}

function toRow({ tenantId, documentId, sequence, payload }: Reference & { payload: Payload }, now: Date): SnapshotRow {
  const { webhookId, event, keyId, body } = payload;
  return { _id: webhookId, tenantId, documentId, sequence, event, keyId, body: new Binary(body), storedAt: now };
}

function fromRow({ _id, event, keyId, body }: SnapshotRow): Payload {
  return { webhookId: _id, event, keyId, body: body.value() };
}

import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import { Binary, type Collection, type Db } from "mongodb";
import type { Payload, Reference } from "../domain/payload.ts";
import type { PayloadRow } from "./rows.ts";

/** Keeps payloads. */
export class PayloadStore {
  readonly #payloads: Collection<PayloadRow>;

  constructor(db: Db) {
    this.#payloads = db.collection("snapshots");
  }

  async ensureIndexes(): Promise<void> {
    await this.#payloads.createIndex({ tenantId: 1, documentId: 1, sequence: 1 }, { unique: true });
  }

  /**
   * Stores payloads whose deliveries are stored. Payloads that are stored already stay unchanged.
   */
  async insert(payloads: readonly (Reference & { payload: Payload })[], now: Date): Promise<void> {
    const rows = payloads.map((each) => toRow(each, now));
    try {
      await this.#payloads.insertMany(rows, { ordered: false });
    } catch (error) {
      duplicatePositions(error);
    }
  }

  /** Which of these webhook ids are stored. */
  async stored(webhookIds: readonly string[]): Promise<Set<string>> {
    const found = this.#payloads.find({ _id: { $in: [...webhookIds] } }, { projection: { _id: 1 } });
    return new Set((await found.toArray()).map(({ _id }) => _id));
  }

  async findMany(webhookIds: readonly string[]): Promise<Payload[]> {
    return (await this.#payloads.find({ _id: { $in: [...webhookIds] } }).toArray()).map(fromRow);
  }
}

function toRow({ tenantId, documentId, sequence, payload }: Reference & { payload: Payload }, now: Date): PayloadRow {
  const { webhookId, event, keyId, body } = payload;
  return { _id: webhookId, tenantId, documentId, sequence, event, keyId, body: new Binary(body), storedAt: now };
}

function fromRow({ _id, event, keyId, body }: PayloadRow): Payload {
  return { webhookId: _id, event, keyId, body: body.value() };
}

import type { Collection, Db } from "mongodb";
import type { GateState } from "../domain/endpoint-gate.ts";
import type { EndpointStateRow } from "./rows.ts";

/** What an endpoint's answers have taught. */
export interface EndpointState {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly gate: GateState;
}

/** Keeps the states of endpoints in trouble, for the replica that takes them over. */
export class EndpointStateStore {
  readonly #states: Collection<EndpointStateRow>;

  constructor(db: Db) {
    this.#states = db.collection("endpoint_states");
  }

  async ensureIndexes(): Promise<void> {
    // An open breaker is stored again at every probe; a row that old is of a deleted endpoint.
    await this.#states.createIndex({ updatedAt: 1 }, { expireAfterSeconds: 3 * 24 * 60 * 60 });
  }

  async list(): Promise<EndpointState[]> {
    const rows = await this.#states.find().toArray();
    return rows.map(({ _id, tenantId, gate }) => ({ endpointId: _id, tenantId, gate }));
  }

  async put({ endpointId, tenantId, gate }: EndpointState): Promise<void> {
    const row = { tenantId, gate, updatedAt: new Date() };
    await this.#states.replaceOne({ _id: endpointId }, row, { upsert: true });
  }

  async delete(endpointId: string): Promise<void> {
    await this.#states.deleteOne({ _id: endpointId });
  }
}

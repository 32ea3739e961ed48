import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
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
  static readonly indexes = {
    // An open breaker is stored again at every probe; a row that old is of a deleted endpoint.
    endpoint_states: { expiry: { key: { updatedAt: 1 }, expireAfterSeconds: 3 * 24 * 60 * 60 } },
  } as const satisfies DatabaseIndexes;
  readonly #states: Collection<EndpointStateRow>;

  constructor(db: Db) {
    this.#states = db.collection("endpoint_states");
  }

  async list(): Promise<EndpointState[]> {
    return (await this.#states.find().toArray()).map(fromRow);
  }

  /** Those of a tenant's endpoints that are in trouble. */
  async listOf(tenantId: string, signal?: AbortSignal): Promise<EndpointState[]> {
    return (await this.#states.find({ tenantId }, signal ? { signal } : {}).toArray()).map(fromRow);
  }

  async put({ endpointId, tenantId, gate }: EndpointState): Promise<void> {
    const row = { tenantId, gate, updatedAt: new Date() };
    await this.#states.replaceOne({ _id: endpointId }, row, { upsert: true });
  }

  /** Asks whichever replica sends to an endpoint for a probe. @returns whether its breaker is open */
  async wantProbe(tenantId: string, endpointId: string): Promise<boolean> {
    const filter = { _id: endpointId, tenantId, "gate.open": { $exists: true } };
    const { matchedCount } = await this.#states.updateOne(filter, { $set: { isProbeWanted: true } });
    return matchedCount === 1;
  }

  /** Those of the endpoints whose probe someone wants. It is forgotten when a state is stored anew. */
  async listWanted(endpointIds: readonly string[]): Promise<string[]> {
    const filter = { _id: { $in: [...endpointIds] }, isProbeWanted: true as const };
    const found = await this.#states.find(filter, { projection: { _id: 1 } }).toArray();
    return found.map(({ _id }) => _id);
  }

  async delete(endpointId: string): Promise<void> {
    await this.#states.deleteOne({ _id: endpointId });
  }
}

function fromRow({ _id: endpointId, tenantId, gate }: EndpointStateRow): EndpointState {
  return { endpointId, tenantId, gate };
}

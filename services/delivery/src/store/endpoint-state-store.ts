import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { randomUUID } from "node:crypto";
import type { Collection, Db } from "mongodb";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { GateState } from "../domain/endpoint-gate.ts";
import type { EndpointStateRow } from "./rows.ts";

export interface EndpointState {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly gate: GateState;
  /**
   * Generation of the row that was read. `put` and `delete` match it, so they change nothing when
   * another process has written since.
   */
  readonly generation: string;
}

/**
 * Keeps the gates of endpoints in trouble (an open breaker, a `Retry-After`, a 410), for the
 * replica that takes such an endpoint over, and for `EndpointHealthStore`.
 */
export class EndpointStateStore {
  static readonly indexes = {
    // An open breaker is stored again at every probe, so a row of this age belongs to an endpoint
    // that is not probed: it was deleted or disabled, for example.
    endpoint_states: { expiry: { key: { updatedAt: 1 }, expireAfterSeconds: 3 * 24 * 60 * 60 } },
  } as const satisfies DatabaseIndexes;
  readonly #states: Collection<EndpointStateRow>;

  constructor(db: Db) {
    this.#states = db.collection("endpoint_states");
  }

  async list(): Promise<EndpointState[]> {
    return (await this.#states.find().toArray()).map(fromRow);
  }

  async listOf(tenantId: string, signal?: AbortSignal): Promise<EndpointState[]> {
    return (await this.#states.find({ tenantId }, signal ? { signal } : {}).toArray()).map(fromRow);
  }

  /** Endpoints without a stored gate are left out. */
  async findMany(endpointIds: readonly string[]): Promise<EndpointState[]> {
    return (await this.#states.find({ _id: { $in: [...endpointIds] } }).toArray()).map(fromRow);
  }

  /**
   * @param state with the generation that was read, or without one when there was no row
   * @returns the new generation; undefined when another process has written since
   */
  async put({
    endpointId: _id,
    tenantId,
    gate,
    generation: read,
  }: Omit<EndpointState, "generation"> & { readonly generation?: string | undefined }): Promise<string | undefined> {
    const generation = randomUUID();
    const row = { tenantId, gate, generation, updatedAt: new Date() };
    if (read !== undefined) {
      const { matchedCount } = await this.#states.replaceOne({ _id, generation: read }, row);
      return matchedCount === 1 ? generation : undefined;
    }
    try {
      await this.#states.insertOne({ _id, ...row });
      return generation;
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  /**
   * Requests a probe from the replica that sends to an endpoint, if the endpoint's breaker is open.
   * @returns whether the breaker is open
   */
  async wantProbe(tenantId: string, endpointId: string): Promise<boolean> {
    const filter = { _id: endpointId, tenantId, "gate.open": { $exists: true } };
    const { matchedCount } = await this.#states.updateOne(filter, { $set: { isProbeWanted: true } });
    return matchedCount === 1;
  }

  /** Those of the endpoints for which a probe was requested. The next `put` removes the request. */
  async listWanted(endpointIds: readonly string[]): Promise<string[]> {
    const filter = { _id: { $in: [...endpointIds] }, isProbeWanted: true as const };
    const found = await this.#states.find(filter, { projection: { _id: 1 } }).toArray();
    return found.map(({ _id }) => _id);
  }

  /** @returns whether there was a row of that generation */
  async delete(endpointId: string, generation: string): Promise<boolean> {
    const { deletedCount } = await this.#states.deleteOne({ _id: endpointId, generation });
    return deletedCount === 1;
  }
}

function fromRow({ _id: endpointId, tenantId, gate, generation }: EndpointStateRow): EndpointState {
  return { endpointId, tenantId, gate, generation };
}

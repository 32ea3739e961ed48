import { Binary, type Collection, type Db } from "mongodb";
import type { Endpoint } from "../domain/delivery.ts";
import type { EndpointRow } from "./rows.ts";

/** Keeps endpoints. */
export class EndpointStore {
  readonly #endpoints: Collection<EndpointRow>;

  constructor(db: Db) {
    this.#endpoints = db.collection("endpoints");
  }

  async ensureIndexes(): Promise<void> {
    await this.#endpoints.createIndex({ tenantId: 1, _id: 1 });
  }

  async insert(endpoint: Endpoint): Promise<void> {
    await this.#endpoints.insertOne(toRow(endpoint));
  }

  /** A tenant's endpoints, oldest first. */
  async list(tenantId: string, signal?: AbortSignal): Promise<Endpoint[]> {
    const options = signal ? { signal } : {};
    return (await this.#endpoints.find({ tenantId }, options).sort({ _id: 1 }).toArray()).map(fromRow);
  }

  /** The endpoints of several tenants. */
  async listOf(tenantIds: readonly string[]): Promise<Endpoint[]> {
    return (await this.#endpoints.find({ tenantId: { $in: [...tenantIds] } }).toArray()).map(fromRow);
  }

  async findMany(endpointIds: readonly string[]): Promise<Endpoint[]> {
    return (await this.#endpoints.find({ _id: { $in: [...endpointIds] } }).toArray()).map(fromRow);
  }

  /** @returns whether there was such an endpoint */
  async delete(tenantId: string, endpointId: string): Promise<boolean> {
    const { deletedCount } = await this.#endpoints.deleteOne({ tenantId, _id: endpointId });
    return deletedCount === 1;
  }
}

function toRow({ endpointId, tenantId, url, secret, createdAt }: Endpoint): EndpointRow {
  return { _id: endpointId, tenantId, url, secret: new Binary(secret), createdAt };
}

function fromRow({ _id, tenantId, url, secret, createdAt }: EndpointRow): Endpoint {
  return { endpointId: _id, tenantId, url, secret: secret.value(), createdAt };
}

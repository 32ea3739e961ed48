import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import type { ClientSession, Collection, Db, Filter } from "mongodb";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import { fromRow, needsSealing, toRow } from "./endpoint-rows.ts";
import type { EndpointRow } from "./rows.ts";
import type { SecretBox } from "./secret-box.ts";

/** Keeps endpoints. Their secrets and headers rest encrypted. */
export class EndpointStore {
  static readonly indexes = {
    endpoints: {
      tenant: { key: { tenantId: 1, _id: 1 } },
      notices: { key: { "notices.at": 1 }, sparse: true },
      disabled: { key: { "disabled.at": 1 }, sparse: true },
    },
  } as const satisfies DatabaseIndexes;
  readonly #db: Db;
  readonly #endpoints: Collection<EndpointRow>;
  readonly #box: SecretBox;
  /** Of writes. */
  readonly #options: { readonly session?: ClientSession };

  constructor(db: Db, box: SecretBox, session?: ClientSession) {
    this.#db = db;
    this.#endpoints = db.collection("endpoints");
    this.#box = box;
    this.#options = session ? { session } : {};
  }

  /** The same store, whose writes belong to the transaction of a session. */
  within(session: ClientSession): Pick<EndpointStore, "insert" | "replace" | "delete"> {
    return new EndpointStore(this.#db, this.#box, session);
  }

  async insert(endpoint: ManagedEndpoint): Promise<void> {
    await this.#endpoints.insertOne(toRow(this.#box, endpoint), this.#options);
  }

  /** A tenant's endpoints, oldest first. */
  async list(tenantId: string, signal?: AbortSignal): Promise<ManagedEndpoint[]> {
    return this.#find({ tenantId }, signal);
  }

  /** One endpoint of a tenant; undefined when the tenant has no such endpoint. */
  async find(tenantId: string, endpointId: string, signal?: AbortSignal): Promise<ManagedEndpoint | undefined> {
    const [found] = await this.#find({ tenantId, _id: endpointId }, signal);
    return found;
  }

  /** The endpoints of several tenants. */
  async listOf(tenantIds: readonly string[]): Promise<ManagedEndpoint[]> {
    return this.#find({ tenantId: { $in: [...tenantIds] } });
  }

  async findMany(endpointIds: readonly string[]): Promise<ManagedEndpoint[]> {
    return this.#find({ _id: { $in: [...endpointIds] } });
  }

  /** Endpoints with a change that is not announced. */
  async listUnannounced(): Promise<ManagedEndpoint[]> {
    return this.#find({ "notices.at": { $gt: new Date(0) } });
  }

  /** The ids of all endpoints that are disabled. */
  async listDisabledIds(): Promise<string[]> {
    const found = this.#endpoints.find({ "disabled.at": { $gt: new Date(0) } }, { projection: { _id: 1 } });
    return (await found.toArray()).map(({ _id }) => _id);
  }

  async count(tenantId: string): Promise<number> {
    return this.#endpoints.countDocuments({ tenantId });
  }

  /**
   * Stores a changed endpoint, if nobody else has changed it since it was read.
   *
   * @param endpoint with the revision that was read
   * @returns whether it was stored
   */
  async replace(endpoint: ManagedEndpoint): Promise<boolean> {
    const { tenantId, endpointId, revision } = endpoint;
    const { _id: _, ...row } = toRow(this.#box, { ...endpoint, revision: revision + 1 });
    const { matchedCount } = await this.#endpoints.replaceOne(
      { tenantId, _id: endpointId, revision },
      row,
      this.#options,
    );
    return matchedCount === 1;
  }

  /** @returns its URL; undefined when there was no such endpoint */
  async delete(tenantId: string, endpointId: string): Promise<string | undefined> {
    const row = await this.#endpoints.findOneAndDelete({ tenantId, _id: endpointId }, this.#options);
    return row?.url;
  }

  /**
   * Seals every secret anew that rests under another KEK. Opens every other one, so that a wrong KEK
   * is found at the start and not at the first webhook.
   *
   * @returns how many endpoints were sealed
   * @throws ConfigError when a secret is under a KEK that is not known here
   */
  async sealAll(): Promise<number> {
    let sealed = 0;
    for await (const row of this.#endpoints.find()) {
      const endpoint = fromRow(this.#box, row, new Date());
      // A row that was changed meanwhile was sealed by that change.
      if (needsSealing(this.#box, row) && (await this.replace(endpoint))) sealed += 1;
    }
    return sealed;
  }

  async #find(filter: Filter<EndpointRow>, signal?: AbortSignal): Promise<ManagedEndpoint[]> {
    const rows = await this.#endpoints
      .find(filter, signal ? { signal } : {})
      .sort({ _id: 1 })
      .toArray();
    const now = new Date();
    return rows.map((row) => fromRow(this.#box, row, now));
  }
}

import { ConfigError } from "@vidimus/kit/env";
import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import type { ClientSession, Collection, Db, Filter } from "mongodb";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import { fromRow, fromUnopenedRow, needsSealing, toRow } from "./endpoint-rows.ts";
import type { EndpointRow } from "./rows.ts";
import type { SecretBox } from "./secret-box.ts";
import { UnopenedEndpoints } from "./unopened-endpoints.ts";

/**
 * Keeps endpoints, with encrypted secrets and headers. An endpoint that cannot be opened is read as
 * a disabled one, so that other endpoints are not affected. Storing such an endpoint throws.
 */
export class EndpointStore {
  static readonly indexes = {
    endpoints: {
      tenant: { key: { tenantId: 1, _id: 1 } },
      notices: { key: { "notices.at": 1 }, sparse: true },
      disabled: { key: { "disabled.at": 1 }, sparse: true },
    },
  } as const satisfies DatabaseIndexes;
  readonly unopened: UnopenedEndpoints;
  readonly #db: Db;
  readonly #endpoints: Collection<EndpointRow>;
  readonly #box: SecretBox;
  /**
   * With a session, `insert`, `replace` and `delete` are part of its transaction; reads never are.
   */
  readonly #options: { readonly session?: ClientSession };

  constructor(db: Db, box: SecretBox, session?: ClientSession, unopened = new UnopenedEndpoints()) {
    this.unopened = unopened;
    this.#db = db;
    this.#endpoints = db.collection("endpoints");
    this.#box = box;
    this.#options = session ? { session } : {};
  }

  within(session: ClientSession): Pick<EndpointStore, "insert" | "replace" | "delete"> {
    return new EndpointStore(this.#db, this.#box, session, this.unopened);
  }

  async insert(endpoint: ManagedEndpoint): Promise<void> {
    await this.#endpoints.insertOne(toRow(this.#box, endpoint), this.#options);
  }

  /** A tenant's endpoints, oldest first. */
  async list(tenantId: string, signal?: AbortSignal): Promise<ManagedEndpoint[]> {
    return this.#find({ tenantId }, signal);
  }

  async find(tenantId: string, endpointId: string, signal?: AbortSignal): Promise<ManagedEndpoint | undefined> {
    const [found] = await this.#find({ tenantId, _id: endpointId }, signal);
    return found;
  }

  async listOf(tenantIds: readonly string[]): Promise<ManagedEndpoint[]> {
    return this.#find({ tenantId: { $in: [...tenantIds] } });
  }

  async findMany(endpointIds: readonly string[]): Promise<ManagedEndpoint[]> {
    return this.#find({ _id: { $in: [...endpointIds] } });
  }

  /**
   * Reads the endpoints again that could not be opened, because another process may have repaired
   * or deleted them.
   */
  async recheckUnopened(): Promise<void> {
    const known = this.unopened.keys;
    if (known.length === 0) return;
    const found = await this.findMany(known.map(({ endpointId }) => endpointId));
    const left = new Set(found.map(({ endpointId }) => endpointId));
    for (const each of known) if (!left.has(each.endpointId)) this.unopened.note(each);
  }

  /** Endpoints of all tenants with notices that are not announced yet. */
  async listUnannounced(): Promise<ManagedEndpoint[]> {
    return this.#find({ "notices.at": { $gt: new Date(0) } });
  }

  async listDisabledIds(): Promise<string[]> {
    const found = this.#endpoints.find({ "disabled.at": { $gt: new Date(0) } }, { projection: { _id: 1 } });
    return (await found.toArray()).map(({ _id }) => _id);
  }

  async count(tenantId: string): Promise<number> {
    return this.#endpoints.countDocuments({ tenantId });
  }

  /**
   * Stores a changed endpoint, unless somebody else has changed it since it was read.
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
    if (row) this.unopened.note({ tenantId, endpointId });
    return row?.url;
  }

  /**
   * Opens every endpoint, so that a wrong KEK is noticed at the start and not at the first webhook.
   * Once every process has the newest KEK, seals with it what another KEK has sealed. Endpoints
   * that cannot be opened are skipped.
   *
   * @returns the number of endpoints that were sealed again
   * @throws ConfigError when there are endpoints and all were sealed with KEKs that this process
   * lacks
   */
  async sealAll(): Promise<number> {
    let [sealed, foreign, others]: [number, ConfigError | undefined, number] = [0, undefined, 0];
    for await (const row of this.#endpoints.find()) {
      const { endpoint, error } = this.#open(row, new Date());
      if (error instanceof ConfigError) foreign = error;
      else others += 1;
      // A row that was changed meanwhile was sealed by that change; if that was with the old
      // KEK, the next call seals it.
      if (!error && needsSealing(this.#box, row) && (await this.replace(endpoint))) sealed += 1;
    }
    if (foreign && others === 0) throw foreign;
    return sealed;
  }

  async #find(filter: Filter<EndpointRow>, signal?: AbortSignal): Promise<ManagedEndpoint[]> {
    const rows = await this.#endpoints
      .find(filter, signal ? { signal } : {})
      .sort({ _id: 1 })
      .toArray();
    const now = new Date();
    return rows.map((row) => this.#open(row, now).endpoint);
  }

  #open(row: EndpointRow, now: Date): { readonly endpoint: ManagedEndpoint; readonly error?: unknown } {
    const name = { tenantId: row.tenantId, endpointId: row._id };
    try {
      const endpoint = fromRow(this.#box, row, now);
      this.unopened.note(name);
      return { endpoint };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.unopened.note({ ...name, why });
      return { endpoint: fromUnopenedRow(row, why), error };
    }
  }
}

import type { Collection } from "mongodb";
import { isMongoTimeout } from "@vidimus/kit/mongo/mongo-errors";
import type { Endpoint } from "../domain/endpoint.ts";
import { type EndpointHealth, gateHealthOf } from "../domain/endpoint-health.ts";
import { dueIndex } from "./delivery-indexes.ts";
import { fromAttemptRow, logOfEndpointIndex } from "./delivery-log-store.ts";
import { heldDeliveries } from "./held-deliveries.ts";
import type { EndpointStateStore } from "./endpoint-state-store.ts";
import type { AttemptRow, DeliveryRow } from "./rows.ts";

/** Longest time of one search: to read a backlog of a million documents would take seconds. */
const searchMsMax = 2_000;

/** Reads the state of endpoints from their stored deliveries and gates. */
export class EndpointHealthStore {
  readonly #rows: Collection<DeliveryRow>;
  readonly #states: Pick<EndpointStateStore, "listOf">;

  constructor(rows: Collection<DeliveryRow>, states: Pick<EndpointStateStore, "listOf">) {
    this.#rows = rows;
    this.#states = states;
  }

  /**
   * From endpoint id to health; empty when MongoDB takes too long. Undelivered webhooks of a
   * disabled endpoint are counted as `held` and not as `backlog`.
   */
  async find(
    tenantId: string,
    endpoints: readonly Pick<Endpoint, "endpointId" | "enabled" | "unopened">[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, EndpointHealth>> {
    const endpointIds = endpoints.map(({ endpointId }) => endpointId);
    const enabledIds = endpoints.flatMap(({ endpointId, enabled }) => (enabled ? endpointId : []));
    const options = { maxTimeMS: searchMsMax, ...(signal ? { signal } : {}) };
    const heldOf = async ({ endpointId, enabled }: (typeof endpoints)[number]) =>
      enabled ? undefined : heldDeliveries(this.#rows, tenantId, endpointId, options);
    try {
      const [states, backlogs, held, accepted] = await Promise.all([
        this.#states.listOf(tenantId, signal),
        this.#backlogs(tenantId, enabledIds, signal),
        Promise.all(endpoints.map(heldOf)),
        Promise.all(endpointIds.map((endpointId) => this.#lastAccepted(tenantId, endpointId, signal))),
      ]);
      const gates = new Map(states.map(({ endpointId, gate }) => [endpointId, gate]));
      const now = new Date();
      return new Map(
        endpoints.map(({ endpointId, unopened }, index) => {
          const [backlog, waiting, lastAcceptedAt] = [backlogs.get(endpointId), held[index], accepted[index]];
          const known = { ...(backlog ? { backlog } : {}), ...(lastAcceptedAt ? { lastAcceptedAt } : {}) };
          const gate = waiting
            ? { gate: unopened === undefined ? ("disabled" as const) : ("unopened" as const), held: waiting }
            : gateHealthOf(gates.get(endpointId), now);
          return [endpointId, { ...gate, ...known }];
        }),
      );
    } catch (error) {
      if (isMongoTimeout(error)) return new Map();
      throw error;
    }
  }

  /**
   * From endpoint id to backlog, for the endpoints with pending deliveries. Reads only the bearers:
   * each stands for one lane, and is mostly the oldest row of that lane.
   */
  async #backlogs(tenantId: string, endpointIds: readonly string[], signal: AbortSignal | undefined) {
    const found = this.#rows.aggregate<{ _id: string; oldestAt: Date; documents: number; last: AttemptRow | null }>(
      [
        { $match: { endpointId: { $in: [...endpointIds] }, nextAttemptAt: { $gt: new Date(0) }, tenantId } },
        {
          $group: {
            _id: "$endpointId",
            oldestAt: { $min: "$createdAt" },
            documents: { $sum: 1 },
            // An attempt's time is its first field, so the greatest attempt is the latest.
            last: { $max: { $last: "$attempts" } },
          },
        },
      ],
      { hint: dueIndex, maxTimeMS: searchMsMax, ...(signal ? { signal } : {}) },
    );
    return new Map(
      (await found.toArray()).map(({ _id, oldestAt, documents, last }) => [
        _id,
        { oldestAt, documents, ...(last ? { lastFailure: fromAttemptRow(last) } : {}) },
      ]),
    );
  }

  /**
   * When the youngest delivered row was last accepted. An older row may have been accepted later.
   */
  async #lastAccepted(tenantId: string, endpointId: string, signal: AbortSignal | undefined) {
    const [found] = await this.#rows
      .find({ tenantId, endpointId, state: "delivered" }, { projection: { endedAt: 1 }, ...(signal ? { signal } : {}) })
      .sort({ createdAt: -1, _id: -1 })
      .limit(1)
      .maxTimeMS(searchMsMax)
      .hint(logOfEndpointIndex)
      .toArray();
    return found?.endedAt;
  }
}

import type { Logger } from "@vidimus/kit/telemetry/log";
import { type AttemptOutcome, type Lane, verdictOf } from "../domain/delivery.ts";
import { type GateChange, isNews, isTrouble, settle } from "../domain/endpoint-gate.ts";
import type { EndpointStateStore } from "../store/endpoint-state-store.ts";
import type { EndpointLanes } from "./endpoint-lanes.ts";
import type { EndpointName } from "./endpoint-reactions.ts";

export interface GateStatesDeps {
  readonly states: Pick<EndpointStateStore, "put" | "delete">;
  /** Tells other endpoints that the breaker of this one, open since then, has closed. */
  readonly announceClosed: (endpoint: EndpointName, since: Date) => Promise<void>;
  readonly log: Logger;
}

/** Moves the gates of endpoints, and stores what another replica must know of them. */
export class GateStates {
  readonly #deps: GateStatesDeps;

  constructor(deps: GateStatesDeps) {
    this.#deps = deps;
  }

  /** Moves an endpoint's gate by the outcome of an attempt; answers what that changed, if anything. */
  settle(lanes: EndpointLanes, lane: Lane, outcome: AttemptOutcome, probe: boolean): GateChange["event"] {
    const verdict = verdictOf(outcome);
    const result = outcome.status === 410 ? ("gone" as const) : verdict;
    const { retryAfterMs } = outcome;
    const answer = { lane: lane.documentId, result, probe, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    const before = lanes.gate;
    const { state, event } = settle(before, lanes.limits, answer, Date.now(), Math.random());
    lanes.gate = state;
    if (isNews(before, state)) void this.keep(lanes, event === "recovered" ? before.open?.since : undefined);
    return event;
  }

  /**
   * Stores what another replica must know when it takes the endpoint over.
   *
   * @param openSince of a breaker that has closed now
   */
  async keep(lanes: EndpointLanes, openSince?: number): Promise<void> {
    const { endpointId, tenantId } = lanes;
    const { announceClosed, states, log } = this.#deps;
    try {
      if (openSince !== undefined) await announceClosed({ endpointId, tenantId }, new Date(openSince));
      const { gate } = lanes;
      if (isTrouble(gate, Date.now())) await states.put({ endpointId, tenantId, gate });
      else await states.delete(endpointId);
    } catch (error) {
      log.warn({ err: error, endpointId }, "state of an endpoint not stored");
    }
  }
}

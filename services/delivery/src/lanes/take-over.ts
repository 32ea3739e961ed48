import { untilDone } from "@vidimus/kit/service/until-done";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { EndpointQueues } from "./endpoint-queues.ts";
import type { EndpointReactions } from "./endpoint-reactions.ts";

interface TakeOverDeps {
  readonly queues: Pick<EndpointQueues, "noteTakeover" | "readGates">;
  readonly lanes: Pick<LaneStore, "appointMissingBearers">;
  readonly endpoints: Pick<EndpointStore, "listUnannounced">;
  readonly announce: EndpointReactions["announce"];
  /** Wakes the search for due lanes in the database. */
  readonly wake: () => void;
  readonly log: Logger;
}

const retryMs = 1_000;

/**
 * Takes over what other processes have left: stored gates, lanes without a bearer, notices that are
 * not announced. Until all stored gates have been read at once, an endpoint's gate is read before
 * its first attempt, and nothing is sent to an endpoint whose gate cannot be read.
 */
export function takeOverUntilDone(deps: TakeOverDeps, signal: AbortSignal): void {
  deps.queues.noteTakeover();
  const onFailure = (error: unknown) => deps.log.warn({ err: error }, "what other replicas have left waits");
  void untilDone(() => takeOver(deps), { signal, retryMs, onFailure });
}

async function takeOver({ queues, lanes, endpoints, announce, wake, log }: TakeOverDeps): Promise<void> {
  await queues.readGates();
  const orphans = await lanes.appointMissingBearers(new Date());
  if (orphans > 0) log.warn({ lanes: orphans }, "lanes had lost their bearers");
  wake();
  // A process has died before it announced these notices, or is announcing them now. In the second
  // case, their deliveries are stored only once all the same.
  for (const endpoint of await endpoints.listUnannounced()) announce(endpoint);
}

import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { EndpointQueues } from "./endpoint-queues.ts";
import type { EndpointReactions } from "./endpoint-reactions.ts";

export interface TakeOverDeps {
  readonly queues: Pick<EndpointQueues, "noteTakeover" | "readGates">;
  readonly lanes: Pick<LaneStore, "appointMissingBearers">;
  readonly endpoints: Pick<EndpointStore, "listUnannounced">;
  readonly announce: EndpointReactions["announce"];
  /** Looks for due lanes in the database. */
  readonly wake: () => void;
  readonly log: Logger;
}

const retryMs = 1_000;

/**
 * Takes over what other processes have left: what they know of endpoints, lanes that lost their
 * bearers, changes that are not announced. Until it is done, gates are read endpoint by endpoint, and
 * nothing is sent to one whose gate cannot be read.
 */
export function takeOverUntilDone(deps: TakeOverDeps, signal: AbortSignal): void {
  deps.queues.noteTakeover();
  const work = async () => {
    while (!signal.aborted) {
      try {
        return await takeOver(deps);
      } catch (error) {
        deps.log.warn({ err: error }, "what other replicas have left waits");
        await pause(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  };
  void work();
}

async function takeOver({ queues, lanes, endpoints, announce, wake, log }: TakeOverDeps): Promise<void> {
  await queues.readGates();
  const orphans = await lanes.appointMissingBearers(new Date());
  if (orphans > 0) log.warn({ lanes: orphans }, "lanes had lost their bearers");
  wake();
  // Of a process that died between a change and its announcement, or of one that is at it.
  for (const endpoint of await endpoints.listUnannounced()) announce(endpoint);
}

import { repeat } from "@vidimus/kit/service/repeat";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { EndpointStateStore } from "../store/endpoint-state-store.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";
import type { Sender } from "./sender.ts";

interface WatchDeps {
  readonly states: Pick<EndpointStateStore, "listWanted">;
  readonly queues: Iterable<Pick<EndpointQueue, "endpointId" | "gate">>;
  readonly sender: Pick<Sender, "wantProbe">;
  readonly pollMs: number;
  readonly log: Logger;
}

/**
 * Makes probes due that were requested at another replica, until the returned value is disposed.
 * Reads nothing while no breaker is open here.
 */
export function watchWantedProbes({ states, queues, sender, pollMs, log }: WatchDeps): AsyncDisposable {
  const look = async () => {
    const open = [...queues].flatMap(({ endpointId, gate }) => (gate.open ? endpointId : []));
    const wanted = open.length > 0 ? await states.listWanted(open) : [];
    for (const endpointId of wanted) sender.wantProbe(endpointId);
  };
  const onFailure = (error: unknown) => log.warn({ err: error }, "wanted probes not read");
  return repeat(look, { everyMs: pollMs, onFailure });
}

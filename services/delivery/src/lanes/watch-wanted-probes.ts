import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
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
 * Brings probes forward that someone asked for at another replica, until it is disposed. It reads
 * nothing while no breaker is open here.
 */
export function watchWantedProbes({ states, queues, sender, pollMs, log }: WatchDeps): AsyncDisposable {
  const stop = new AbortController();
  const loop = async () => {
    while (!stop.signal.aborted) {
      const open = [...queues].flatMap(({ endpointId, gate }) => (gate.open ? endpointId : []));
      try {
        const wanted = open.length > 0 ? await states.listWanted(open) : [];
        for (const endpointId of wanted) sender.wantProbe(endpointId);
      } catch (error) {
        log.warn({ err: error }, "wanted probes not read");
      }
      await pause(pollMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const looping = loop();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await looping;
    },
  };
}

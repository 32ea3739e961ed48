import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { announceNotices, type AnnounceDeps } from "./announce-notices.ts";

interface AnnouncingDeps extends AnnounceDeps {
  readonly endpoints: AnnounceDeps["endpoints"] & Pick<EndpointStore, "listUnannounced">;
  /** Interval of the walks, and the age of what they take over from a process that may have died. */
  readonly overdueMs: number;
  readonly log: Logger;
}

/** Announces what other processes have left unannounced, until it is disposed. */
export function startAnnouncing(deps: AnnouncingDeps): AsyncDisposable {
  const stop = new AbortController();
  const loop = async () => {
    while (!stop.signal.aborted) {
      try {
        const left = await deps.endpoints.listUnannounced(new Date(Date.now() - deps.overdueMs));
        for (const endpoint of left) await announceNotices(deps, endpoint);
      } catch (error) {
        deps.log.warn({ err: error }, "changes of endpoints wait to be announced");
      }
      await pause(deps.overdueMs, undefined, { signal: stop.signal }).catch(() => {});
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

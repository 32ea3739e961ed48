import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Lane } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { EndpointDirectory } from "./endpoint-directory.ts";

interface EnabledMeanwhileDeps {
  readonly directory: Pick<EndpointDirectory, "findNow">;
  readonly lanes: Pick<LaneStore, "expedite">;
  readonly log: Logger;
}

/**
 * From when the age of rows counts, as it is now. An attempt that was made with an older reading would
 * give up a row whose endpoint was enabled meanwhile. While it is disabled, the age of its rows stands
 * still: it counts from the enabling that is to come.
 */
export async function enabledAtNow(
  { directory }: Pick<EnabledMeanwhileDeps, "directory">,
  read: Endpoint,
  now: Date,
): Promise<Date | undefined> {
  const { enabled, enabledAt } = (await directory.findNow(read.endpointId)) ?? read;
  return enabled ? enabledAt : now;
}

/**
 * Makes a lane that waits for its backoff due at once, if its endpoint was enabled since it was read
 * for the attempt: what enabling makes due are lanes without a lease. Call it when the attempt is
 * journaled, so that an enabling comes either before this reading or after the end of the lease.
 *
 * @returns whether it did; when MongoDB cannot be used, the lane waits
 */
export async function expediteIfEnabled(
  { directory, lanes, log }: EnabledMeanwhileDeps,
  read: Endpoint,
  lane: Lane,
): Promise<boolean> {
  try {
    const found = await directory.findNow(read.endpointId);
    if (!found?.enabled || found.enabledAt?.getTime() === read.enabledAt?.getTime()) return false;
    await lanes.expedite([lane], new Date());
    return true;
  } catch (error) {
    log.warn({ err: error, endpointId: read.endpointId }, "a lane waits for the end of its backoff");
    return false;
  }
}

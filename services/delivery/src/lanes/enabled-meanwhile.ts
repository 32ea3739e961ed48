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
 * Reads the endpoint again, because with the older reading an attempt would give up a row whose
 * endpoint was enabled meanwhile.
 *
 * @returns the time from which the age of the endpoint's rows counts; undefined when the endpoint
 * was never disabled, and `now` while it is disabled, because the age will count from its next
 * enabling
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
 * Makes a lane that waits for its backoff due at once when its endpoint was enabled during the
 * attempt: enabling expedites only lanes without a lease. Call this after the attempt is journaled:
 * an enabling is then either seen here, or comes after the lease has ended and expedites the lane
 * itself.
 *
 * @returns whether the lane was expedited; false also when MongoDB is unavailable
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

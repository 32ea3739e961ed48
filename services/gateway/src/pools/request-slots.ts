import { TenantSlots } from "@vidimus/kit/fair/tenant-slots";
import type { PoolRefusals } from "./pool-refusals.ts";
import { type PoolSize, shareOf } from "./pool-size.ts";

/** Longest wait for a slot: longer than most slots are held, shorter than clients wait. */
const waitMsMax = 1_000;

/**
 * The requests that run at once. Most slots are released within milliseconds, so one tenant may
 * hold all of them while no other asks, and a request without a free slot waits. When none is free
 * in time, it is refused with RATE_LIMITED if the tenant holds its share, else with UNAVAILABLE.
 */
export function requestSlots(size: PoolSize, refusals: PoolRefusals): TenantSlots {
  return new TenantSlots({
    capacity: size.capacity,
    share: shareOf(size),
    mayExceed: true,
    wait: { msMax: waitMsMax, refuse: (why) => refusals.refuse(size, why) },
  });
}

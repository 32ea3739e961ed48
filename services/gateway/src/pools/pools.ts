import type { TenantSlots } from "@vidimus/kit/fair/tenant-slots";
import type { Registry } from "prom-client";
import { PoolRefusals } from "./pool-refusals.ts";
import { requestSlots } from "./request-slots.ts";
import { SharedPool } from "./shared-pool.ts";

const mib = 1024 * 1024;

/**
 * Most streams of one tenant: 8 that a phrases process runs for it at once, and 8 that wait there.
 * With half of the pool, 64, up to 56 would wait there for a second, be refused together, and be
 * followed by as many new streams at once.
 */
const streamsShare = 16;

interface PoolSizes {
  /** Requests that are worked on at once. */
  readonly slots: number;
  /** Bytes of bodies that are being received or used. */
  readonly bodyBytes: number;
  /** Bytes of answers that their readers have not taken yet. */
  readonly answerBytes: number;
  /** Streamed answers that are requested or running. */
  readonly streams: number;
  /** Long polls: requests that wait for a change. */
  readonly longPolls: number;
}

const defaults: PoolSizes = {
  slots: 2_048,
  bodyBytes: 64 * mib,
  answerBytes: 128 * mib,
  streams: 128,
  longPolls: 512,
};

/** The pools that all tenants share in this process. */
export interface Pools {
  readonly slots: TenantSlots;
  readonly bodies: SharedPool;
  readonly answers: SharedPool;
  readonly streams: SharedPool;
  readonly longPolls: SharedPool;
}

/** Opens the pools; the default sizes are those of production. */
export function openPools(registry: Registry, sizes: Partial<PoolSizes> = {}): Pools {
  const { slots, bodyBytes, answerBytes, streams, longPolls } = { ...defaults, ...sizes };
  const refusals = new PoolRefusals(registry);
  const bytes = (label: string, name: string, capacity: number) =>
    new SharedPool({ label, name, capacity, unit: "bytes" }, refusals);
  return {
    slots: requestSlots(
      { label: "request_slots", name: "requests worked on at once", capacity: slots, unit: "requests" },
      refusals,
    ),
    bodies: bytes("body_memory", "memory for request bodies", bodyBytes),
    answers: bytes("answer_buffers", "memory for unread answers", answerBytes),
    streams: new SharedPool(
      { label: "exports", name: "exports at once", capacity: streams, share: streamsShare, unit: "requests" },
      refusals,
    ),
    longPolls: new SharedPool(
      { label: "long_polls", name: "requests that wait for changes", capacity: longPolls, unit: "requests" },
      refusals,
    ),
  };
}

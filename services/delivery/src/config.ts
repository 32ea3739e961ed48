import { EnvReader } from "@vidimus/kit/env";
import { type BaseConfig, readBaseConfig } from "@vidimus/kit/service";
import { parseCidrs } from "./domain/address-rules.ts";
import type { RetryPlan } from "./domain/retry-plan.ts";

/** How the delivery service runs. */
export interface DeliveryConfig extends BaseConfig {
  /** `host:port` of documents, whose snapshots go out. */
  documentsTarget: string;
  /** `host:port` of the notary. */
  signingTarget: string;
  natsUrl: string;
  /** Whether plain http may be posted to. */
  allowHttp: boolean;
  /** Special-purpose ranges that may be dialled all the same. */
  allowCidrs: readonly string[];
  pace: DeliveryPace;
}

/** Deadlines and intervals. Not read from the environment: they are promises to receivers. */
export interface DeliveryPace {
  /** Until a TCP and TLS connection stands. */
  connectMs: number;
  /** From the start of an attempt to the end of its answer. */
  attemptMs: number;
  /** What a lease has beyond `attemptMs`; another process takes over this long after a death, at the latest. */
  leaseMarginMs: number;
  /** Longest the sender sleeps. Finds what other processes left. */
  pollMs: number;
  /** Between two walks over the pending snapshots. */
  reconcileMs: number;
  /** The same while the broker is away, and nothing else tells of new snapshots. */
  reconcileAloneMs: number;
  retries: RetryPlan;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** What receivers are promised. */
export const promisedPace: DeliveryPace = {
  connectMs: 5_000,
  attemptMs: 15_000,
  leaseMarginMs: 5_000,
  pollMs: 1_000,
  reconcileMs: 3_000,
  reconcileAloneMs: 500,
  retries: {
    delaysMs: [5_000, 30_000, 2 * minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs, hourMs],
    ageMsMax: 72 * hourMs,
  },
};

/** Reads the configuration; throws a `ConfigError` naming every fault. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): DeliveryConfig {
  const env = new EnvReader(variables);
  const base = readBaseConfig(env, { grpcPort: 50_054, opsPort: 9_094, database: "vidimus_delivery" });
  const config = {
    ...base,
    documentsTarget: env.string("DOCUMENTS_TARGET", { fallback: "127.0.0.1:50051" }),
    signingTarget: env.string("SIGNING_TARGET", { fallback: "127.0.0.1:50053" }),
    natsUrl: env.string("NATS_URL", { fallback: "nats://127.0.0.1:4222" }),
    allowHttp: env.onOff("DELIVERY_ALLOW_HTTP", "off"),
    allowCidrs: readCidrs(env, "DELIVERY_ALLOW_CIDRS"),
    pace: promisedPace,
  };
  env.finish();
  return config;
}

function readCidrs(env: EnvReader, name: string): readonly string[] {
  const list = (env.optional(name) ?? "").split(",").flatMap((part) => part.trim() || []);
  try {
    parseCidrs(list);
  } catch (error) {
    env.fault(`${name} ${error instanceof Error ? error.message : String(error)}`);
  }
  return list;
}

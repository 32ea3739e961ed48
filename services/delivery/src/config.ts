import { ConfigError, EnvReader } from "@vidimus/kit/env";
import { readSecretKey } from "@vidimus/kit/secret-key-file";
import { type BrokerSettings, readBroker } from "@vidimus/kit/nats/broker-settings";
import { readTeamsConfig, type TeamsConfig } from "@vidimus/kit/service/service";
import { readTenantsConfig, type TenantsConfig } from "@vidimus/kit/tenants/open-known-tenants";
import type { KeyObject } from "node:crypto";
import { parseCidrs } from "./domain/address-rules.ts";
import { createPortRule, httpPortsByDefault, portsByDefault } from "./domain/port-rules.ts";
import { promisedRetries, type RetryPlan } from "./domain/retry-plan.ts";

export const deliveryDatabase = "vidimus_delivery";

/** Settings of the delivery service. */
export interface DeliveryConfig extends TeamsConfig, TenantsConfig {
  /** `host:port` of documents' mesh door. */
  documentsTarget: string;
  /** `host:port` of signing's mesh door. */
  signingTarget: string;
  broker: BrokerSettings;
  /** Encrypts what endpoints keep secret. Printing a `KeyObject` shows no bytes. */
  kek: KeyObject;
  /** Opens what another KEK has encrypted, while the KEK is replaced. */
  otherKek?: KeyObject;
  /** Whether plain http may be posted to. */
  allowHttp: boolean;
  /** Special-purpose address ranges that may be dialled, as CIDRs. */
  allowCidrs: readonly string[];
  /** Ports that may be dialled, for example `443,8000-8999`. */
  allowPorts: string;
  pace: DeliveryPace;
}

/**
 * Deadlines and intervals. Those of an attempt are promised to receivers (docs/verify-webhooks.md),
 * so none is read from the environment.
 */
export interface DeliveryPace {
  /** Deadline for connecting, TLS included. */
  connectMs: number;
  /** Deadline of an attempt, from its start to the end of the answer. */
  attemptMs: number;
  /**
   * A lease lasts `attemptMs` and this margin. After a process died, another one takes over when
   * its leases end.
   */
  leaseMarginMs: number;
  /** Longest sleep of the sender, which then finds due deliveries of other processes. */
  pollMs: number;
  /** A replica takes over what is overdue by this, of tenants that another one is preferred for. */
  overdueMs: number;
  /** Interval of the walks over documents' pending snapshots. */
  reconcileMs: number;
  /** The interval while the broker is not connected, when only a walk finds new snapshots. */
  reconcileAloneMs: number;
  /** Interval of the looks at the trust list. */
  trustListMs: number;
  /**
   * How long after a revocation signatures of the key may still reach documents: they are handed
   * over under a trust list of at most 15 seconds ago, by a call of at most ten.
   */
  resigningGraceMs: number;
  /** Interval of the looks for deliveries whose time is over. */
  endOldMs: number;
  /** How many documents of a tenant are sent again each second after a revocation, up to 256. */
  resendsPerSecond: number;
  retries: RetryPlan;
}

/** The deadlines and intervals that receivers are promised. */
export const promisedPace: DeliveryPace = {
  connectMs: 5_000,
  attemptMs: 15_000,
  leaseMarginMs: 5_000,
  pollMs: 1_000,
  overdueMs: 5_000,
  reconcileMs: 1_000,
  reconcileAloneMs: 500,
  trustListMs: 5_000,
  resigningGraceMs: 30_000,
  endOldMs: 600_000,
  resendsPerSecond: 20,
  retries: promisedRetries,
};

const otherKekSetting = "DELIVERY_OTHER_KEK_FILE";

/** Reads the configuration; throws a `ConfigError` naming every fault. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): DeliveryConfig {
  const env = new EnvReader(variables);
  const base = readDeliveryBaseConfig(env);
  const allowHttp = env.onOff("DELIVERY_ALLOW_HTTP", "off");
  const kek = readSecretKey(env, "DELIVERY_KEK_FILE");
  const otherKek = env.optional(otherKekSetting) ? readSecretKey(env, otherKekSetting) : undefined;
  const config = {
    ...base,
    ...readTenantsConfig(env),
    ...(otherKek ? { otherKek } : {}),
    documentsTarget: env.string("DOCUMENTS_TARGET", { fallback: "127.0.0.1:7151" }),
    signingTarget: env.string("SIGNING_TARGET", { fallback: "127.0.0.1:7153" }),
    broker: readBroker(env, "nats://127.0.0.1:4222"),
    allowHttp,
    allowCidrs: readCidrs(env, "DELIVERY_ALLOW_CIDRS"),
    allowPorts: readPorts(env, allowHttp),
    pace: promisedPace,
  };
  env.finish();
  if (!kek) throw new ConfigError("DELIVERY_KEK_FILE is required");
  return { ...config, kek };
}

/** Reads the settings every service has, with this one's defaults. */
export function readDeliveryBaseConfig(env: EnvReader): TeamsConfig {
  const ports = { grpcPort: 7054, meshPort: 7154, opsPort: 9_094 };
  return readTeamsConfig(env, { ...ports, database: deliveryDatabase });
}

function readPorts(env: EnvReader, allowHttp: boolean): string {
  const fallback = allowHttp ? `${portsByDefault},${httpPortsByDefault}` : portsByDefault;
  const list = env.string("DELIVERY_ALLOW_PORTS", { fallback });
  try {
    createPortRule(list);
  } catch (error) {
    env.fault(`DELIVERY_ALLOW_PORTS ${error instanceof Error ? error.message : String(error)}`);
  }
  return list;
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

/** How long a lease lasts. */
export function leaseMsOf({ attemptMs, leaseMarginMs }: Pick<DeliveryPace, "attemptMs" | "leaseMarginMs">): number {
  return attemptMs + leaseMarginMs;
}

import { ConfigError, EnvReader } from "@vidimus/kit/env";
import { readSecretKey } from "@vidimus/kit/secret-key-file";
import { type BrokerSettings, readBroker } from "@vidimus/kit/nats/broker-settings";
import { readTeamsConfig, type TeamsConfig } from "@vidimus/kit/service/service";
import { readTenantsConfig, type TenantsConfig } from "@vidimus/tenancy/open-known-tenants";
import type { KeyObject } from "node:crypto";
import { parseCidrs } from "./domain/address-rules.ts";
import { createPortRule, httpPortsByDefault, portsByDefault } from "./domain/port-rules.ts";
import { promisedRetries, type RetryPlan } from "./domain/retry-plan.ts";
import type { EgressProxy } from "./net/proxy-connector.ts";
import { readEgressProxy } from "./read-egress-proxy.ts";

export const deliveryDatabase = "vidimus_delivery";

export interface DeliveryConfig extends TeamsConfig, TenantsConfig {
  /** `host:port` of documents' mesh door. */
  documentsTarget: string;
  /** `host:port` of signing's mesh door. */
  signingTarget: string;
  broker: BrokerSettings;
  /**
   * Encrypts the secrets and headers of endpoints. A `KeyObject`, because printing it shows no
   * bytes.
   */
  kek: KeyObject;
  /**
   * The KEK that `kek` replaces; present during the replacement. It decrypts the secrets and
   * headers that were encrypted with it, and encrypts new ones until every running process has
   * `kek`.
   */
  otherKek?: KeyObject;
  /**
   * Whether endpoints may be given URLs with plain http. Sending checks only the port: 80 and 8080
   * are not allowed by default while this is off.
   */
  allowHttp: boolean;
  /** Special-purpose address ranges that may be dialled, as CIDRs. */
  allowCidrs: readonly string[];
  /** Address ranges that are never dialled, even when `allowCidrs` contains them, as CIDRs. */
  denyCidrs: readonly string[];
  /** Ports that may be dialled, for example `443,8000-8999`. */
  allowPorts: string;
  /** The proxy through which connections to receivers are opened; absent to connect directly. */
  egressProxy?: EgressProxy;
  pace: DeliveryPace;
}

/**
 * Deadlines, intervals and limits. None is a setting: `attemptMs` and `retries` are promised to
 * receivers (docs/verify-webhooks.md), and the others fit to them and to each other.
 */
export interface DeliveryPace {
  /** Deadline for connecting, TLS included. */
  connectMs: number;
  /** Deadline of an attempt, from its start to the end of the answer. */
  attemptMs: number;
  /**
   * Added to `attemptMs` for the time of a lease. When a process has died, another one takes its
   * lanes over when their leases end.
   */
  leaseMarginMs: number;
  /**
   * Longest pause between two searches of the database: for due lanes, for replays, for wanted
   * probes, and for work after a revocation.
   */
  pollMs: number;
  /**
   * A replica takes over the snapshots of a tenant, or the lanes of an endpoint, that another
   * replica is preferred for once they are overdue by this time and the oldest one has stayed the
   * same for as long (`Standstill`).
   */
  overdueMs: number;
  /** Interval of the reconciler's walks over the snapshots that are pending in documents. */
  reconcileMs: number;
  /**
   * Interval of the reconciler's walks while the broker is not connected, so that only the walks
   * find new snapshots.
   */
  reconcileAloneMs: number;
  /** Interval at which the trust list is read. */
  trustListMs: number;
  /**
   * Time after a revocation in which signatures of the revoked key may still reach documents: the
   * call that hands a signature over takes at most 10 s, and is made only if the key was in a trust
   * list that is at most 15 s old.
   */
  resigningGraceMs: number;
  /** Interval of the search for deliveries whose time is over. */
  endOldMs: number;
  /**
   * Most snapshots of a tenant that are sent again each second after a revocation. The value may be
   * at most 256.
   */
  resendsPerSecond: number;
  /**
   * Interval of the check whether every process has the new KEK, while this process has two KEKs.
   */
  kekMs: number;
  /**
   * A process with the old KEK alone that was not seen for this long counts as ended, so that the
   * new KEK encrypts. The time is far longer than the four seconds after which other replicas take
   * over a silent process's tenants: a process that was only paused cannot decrypt what others have
   * encrypted with the new KEK meanwhile.
   */
  kekGoneMs: number;
  retries: RetryPlan;
}

/** The pace in production. */
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
  kekMs: 10_000,
  kekGoneMs: 60_000,
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
  const egressProxy = readEgressProxy(env, "WEBHOOK_PROXY");
  const config = {
    ...base,
    ...readTenantsConfig(env),
    ...(otherKek ? { otherKek } : {}),
    ...(egressProxy ? { egressProxy } : {}),
    documentsTarget: env.string("DOCUMENTS_TARGET", { fallback: "127.0.0.1:7151" }),
    signingTarget: env.string("SIGNING_TARGET", { fallback: "127.0.0.1:7153" }),
    broker: readBroker(env, "nats://127.0.0.1:4222"),
    allowHttp,
    allowCidrs: readCidrs(env, "DELIVERY_ALLOW_CIDRS"),
    denyCidrs: readCidrs(env, "DELIVERY_DENY_CIDRS"),
    allowPorts: readPorts(env, allowHttp),
    pace: promisedPace,
  };
  env.finish();
  // Not reached: without the file `env.finish` has thrown.
  if (!kek) throw new ConfigError("DELIVERY_KEK_FILE is required");
  return { ...config, kek };
}

/**
 * Reads the settings that every service with a teams door has, with delivery's defaults for the
 * ports and the database.
 */
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

import { EnvReader } from "@vidimus/kit/env";
import { readSecretKey } from "@vidimus/kit/secret-key-file";
import type { KeyObject } from "node:crypto";
import { availableParallelism } from "node:os";
import { type BrokerSettings, readBroker } from "@vidimus/kit/nats/broker-settings";
import { readTeamsConfig, type TeamsConfig } from "@vidimus/kit/service/service";
import { readTenantsConfig, type TenantsConfig } from "@vidimus/tenancy/open-known-tenants";

export const documentsDatabase = "vidimus_documents";

export interface DocumentsConfig extends TeamsConfig, TenantsConfig {
  broker: BrokerSettings;
  /** Servers that keep the stream of references for internal teams; 0 for no stream. */
  snapshotStreamReplicas: number;
  /** Threads that check documents beside the event loop; 2 to 64. */
  checkThreads: number;
  /**
   * Makes the attestations that signing requires. Undefined when ATTESTATION_KEY_FILE is not set:
   * signing then signs no snapshot that this process hands out.
   */
  attestationKey: KeyObject | undefined;
}

/**
 * Reads the settings; throws a ConfigError that names every fault. Variables beside the base:
 * ACCESS_TARGET, those of the broker, SNAPSHOT_STREAM_REPLICAS, CHECK_THREADS,
 * ATTESTATION_KEY_FILE.
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): DocumentsConfig {
  const env = new EnvReader(variables);
  const base = readDocumentsBaseConfig(env);
  const config = {
    ...base,
    ...readTenantsConfig(env),
    broker: readBroker(env),
    snapshotStreamReplicas: env.int("SNAPSHOT_STREAM_REPLICAS", { min: 0, max: 5, fallback: 1 }),
    checkThreads: env.int("CHECK_THREADS", { min: 2, max: 64, fallback: defaultCheckThreads() }),
    attestationKey: env.optional("ATTESTATION_KEY_FILE") ? readSecretKey(env, "ATTESTATION_KEY_FILE") : undefined,
  };
  env.finish();
  return config;
}

/**
 * Reads the settings that every service with a teams door has; ports and database default to those
 * of documents.
 */
export function readDocumentsBaseConfig(env: EnvReader): TeamsConfig {
  const ports = { grpcPort: 7051, meshPort: 7151, opsPort: 9091 };
  return readTeamsConfig(env, { ...ports, database: documentsDatabase });
}

/**
 * One thread for each core; at least two, so that one tenant cannot have all, and at most four,
 * because each may fill its heap.
 */
function defaultCheckThreads(): number {
  return Math.min(4, Math.max(2, availableParallelism()));
}

import { EnvReader } from "@vidimus/kit/env";
import { type BaseConfig, readBaseConfig } from "@vidimus/kit/service";

/** Settings of the documents service. */
export interface DocumentsConfig extends BaseConfig {
  natsUrl: string;
  /** Whether the database is migrated at the start; else the start fails unless `migrate.ts` was run before it. */
  migrate: boolean;
}

/** Reads the settings; throws a ConfigError that names every fault. Variables beside the base: NATS_URL, MIGRATE. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): DocumentsConfig {
  const env = new EnvReader(variables);
  const base = readDocumentsBaseConfig(env);
  const config = { ...base, natsUrl: env.string("NATS_URL"), migrate: env.onOff("MIGRATE", "on") };
  env.finish();
  return config;
}

/** Reads the settings every service has, with this one's defaults. */
export function readDocumentsBaseConfig(env: EnvReader): BaseConfig {
  return readBaseConfig(env, { grpcPort: 50_051, opsPort: 9091, database: "vidimus_documents" });
}

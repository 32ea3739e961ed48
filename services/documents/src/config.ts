import { EnvReader } from "@vidimus/kit/env";
import { type BaseConfig, readBaseConfig } from "@vidimus/kit/service";

/** Settings of the documents service. */
export interface DocumentsConfig extends BaseConfig {
  natsUrl: string;
}

/** Reads the settings; throws a ConfigError that names every fault. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): DocumentsConfig {
  const env = new EnvReader(variables);
  const base = readBaseConfig(env, { grpcPort: 50_051, opsPort: 9091, database: "vidimus_documents" });
  const config = { ...base, natsUrl: env.string("NATS_URL") };
  env.finish();
  return config;
}

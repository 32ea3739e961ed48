import { EnvReader } from "@vidimus/kit/env";
import { type BaseConfig, readBaseConfig } from "@vidimus/kit/service";

/** Settings of the phrases service: those that every service has. */
export type PhrasesConfig = BaseConfig;

/** Reads the settings. Throws a `ConfigError` that names every fault. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): PhrasesConfig {
  const env = new EnvReader(variables);
  const config = readBaseConfig(env, { grpcPort: 50_052, opsPort: 9092, database: "vidimus_phrases" });
  env.finish();
  return config;
}

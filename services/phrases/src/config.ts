import { EnvReader } from "@vidimus/kit/env";
import { readTeamsConfig, type TeamsConfig } from "@vidimus/kit/service/service";

/** Settings of the phrases service: those that every service with a teams door has. */
export type PhrasesConfig = TeamsConfig;

/** Reads the settings. Throws a `ConfigError` that names every fault. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): PhrasesConfig {
  const env = new EnvReader(variables);
  const ports = { grpcPort: 50_052, meshPort: 50_152, opsPort: 9092 };
  const config = readTeamsConfig(env, { ...ports, database: "vidimus_phrases" });
  env.finish();
  return config;
}

import { EnvReader } from "@vidimus/kit/env";
import { readTeamsConfig, type TeamsConfig } from "@vidimus/kit/service/service";
import { readTenantsConfig, type TenantsConfig } from "@vidimus/tenancy/open-known-tenants";

export const phrasesDatabase = "vidimus_phrases";

export type PhrasesConfig = TeamsConfig & TenantsConfig;

/** @throws ConfigError naming every fault */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): PhrasesConfig {
  const env = new EnvReader(variables);
  const ports = { grpcPort: 7052, meshPort: 7152, opsPort: 9092 };
  const base = readTeamsConfig(env, { ...ports, database: phrasesDatabase });
  const config = { ...base, ...readTenantsConfig(env) };
  env.finish();
  return config;
}

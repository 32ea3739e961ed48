import { ConfigError, EnvReader } from "@vidimus/kit/env";
import { type BaseConfig, readBaseConfig } from "@vidimus/kit/service";
import type { KeyObject } from "node:crypto";
import { readKekFile } from "./custody/kek-file.ts";

/** Settings of the signing service. */
export interface SigningConfig extends BaseConfig {
  /** Wraps the private keys at rest; undefined while signing is off. A `KeyObject` shows no bytes when it is printed. */
  kek: KeyObject | undefined;
}

/**
 * Reads the settings. Besides the common ones: SIGNING (`on` unless said: a deployment that forgot its keys must not
 * come up quietly unsigned) and SIGNING_KEK_FILE (required while it is on; its form is said at `readKekFile`).
 *
 * @throws ConfigError naming every fault
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): SigningConfig {
  const env = new EnvReader(variables);
  const base = readBaseConfig(env, { grpcPort: 50_053, opsPort: 9093, database: "vidimus_signing" });
  const kek = env.onOff("SIGNING", "on") ? readKek(env) : undefined;
  env.finish();
  return { ...base, kek };
}

function readKek(env: EnvReader): KeyObject | undefined {
  const path = env.string("SIGNING_KEK_FILE");
  if (path === "") return undefined;
  try {
    return readKekFile(path);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    env.fault(`SIGNING_KEK_FILE: ${error.message}`);
    return undefined;
  }
}

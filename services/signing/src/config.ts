import { ConfigError, EnvReader } from "@vidimus/kit/env";
import { type BaseConfig, readBaseConfig } from "@vidimus/kit/service/service";
import type { KeyObject } from "node:crypto";
import { readKekFile } from "./custody/kek-file.ts";

/** Settings of the signing service. */
export interface SigningConfig extends BaseConfig {
  /**
   * Encrypts the stored private keys; undefined while signing is off. Printing a `KeyObject` shows
   * no bytes.
   */
  kek: KeyObject | undefined;
}

/**
 * Reads the settings. Besides the common ones: SIGNING (default `on`, so that a deployment without
 * keys fails instead of running unsigned) and SIGNING_KEK_FILE (required while signing is on;
 * `readKekFile` says its forms).
 *
 * @throws ConfigError naming every fault
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): SigningConfig {
  const env = new EnvReader(variables);
  const base = readBaseConfig(env, { meshPort: 50_153, opsPort: 9093, database: "vidimus_signing" });
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

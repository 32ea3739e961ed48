import { ConfigError, EnvReader } from "@vidimus/kit/env";
import { type BaseConfig, readBaseConfig } from "@vidimus/kit/service/service";
import { readSecretKey } from "@vidimus/kit/secret-key-file";
import type { KeyObject } from "node:crypto";
import type { RingRules } from "./domain/tend-ring.ts";

const hourMs = 3_600_000;
export const signingDatabase = "vidimus_signing";
const baseDefaults = { meshPort: 7153, opsPort: 9093, database: signingDatabase };

export interface SigningConfig extends BaseConfig {
  /** Whether this process signs snapshots; the trust list is signed also when it does not. */
  isOn: boolean;
  /**
   * Encrypts the stored private keys, and the key that seals the ring. A `KeyObject`, because
   * printing it shows no bytes.
   */
  kek: KeyObject;
  /**
   * The KEK before `kek`, needed until `RewrapKeys` has wrapped everything with `kek`; undefined
   * when it is not set.
   */
  oldKek: KeyObject | undefined;
  /** Keys with which documents may make its attestations. At least one while this process signs. */
  attestationKeys: readonly KeyObject[];
  ring: RingRules;
  /** `host:port` of documents' mesh door, for audits; undefined to audit without documents. */
  documentsTarget: string | undefined;
  /** Port of the admin door; undefined to keep it closed. 0 chooses a free one. */
  adminPort: number | undefined;
  /**
   * File that says who may call the admin door; set if and only if both `adminPort` and `tls` are.
   */
  grantsFile: string | undefined;
}

/**
 * Reads the settings. Besides the common ones: SIGNING (default `on`, so that a deployment without
 * an attestation key fails instead of running unsigned), SIGNING_KEK_FILE (required also while
 * signing is off, because the trust list is signed then, too; `readSecretKeyFile` describes its
 * forms), SIGNING_OLD_KEK_FILE (the KEK before), ATTESTATION_KEY_FILE (required while signing is
 * on) and ATTESTATION_OLD_KEY_FILE (the key before), PREPUBLISH_HOURS (3 to 720, default 24;
 * receivers cache the trust list for an hour), ROTATION_DAYS (default 90; 0: keys are replaced only
 * by hand), DOCUMENTS_TARGET (for audits), GRPC_PORT (of the admin door, which is closed without
 * it) and GRANTS_FILE (required with GRPC_PORT and certificates).
 *
 * @throws ConfigError naming every fault
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): SigningConfig {
  const env = new EnvReader(variables);
  const base = readBaseConfig(env, baseDefaults);
  const isOn = env.onOff("SIGNING", "on");
  const { kek, oldKek } = readKeks(env);
  const attestationKeys = readAttestationKeys(env, isOn);
  const prepublishMs = env.int("PREPUBLISH_HOURS", { min: 3, max: 720, fallback: 24 }) * hourMs;
  const rotationDays = env.int("ROTATION_DAYS", { min: 0, max: 3_650, fallback: 90 });
  const rotateAfterMs = rotationDays === 0 ? undefined : rotationDays * 24 * hourMs;
  const adminPort = env.optional("GRPC_PORT") ? env.int("GRPC_PORT", { min: 0, max: 65_535 }) : undefined;
  const grantsFile = adminPort !== undefined && base.tls ? env.string("GRANTS_FILE") : undefined;
  const documentsTarget = env.optional("DOCUMENTS_TARGET");
  env.finish();
  if (!kek) throw noKek();
  const ring = { prepublishMs, rotateAfterMs };
  return { ...base, isOn, kek, oldKek, attestationKeys, ring, documentsTarget, adminPort, grantsFile };
}

/**
 * Reads the settings of a restore: the database's, and SIGNING_KEK_FILE.
 *
 * @throws ConfigError naming every fault
 */
export function readRestoreConfig(env: EnvReader): Pick<BaseConfig, "mongoUrl" | "database"> & { kek: KeyObject } {
  const { mongoUrl, database } = readBaseConfig(env, baseDefaults);
  const kek = readSecretKey(env, "SIGNING_KEK_FILE");
  env.finish();
  if (!kek) throw noKek();
  return { mongoUrl, database, kek };
}

/** Not reached: without the file `env.finish` has thrown. */
function noKek(): ConfigError {
  return new ConfigError("SIGNING_KEK_FILE is required");
}

function readKeks(env: EnvReader): Readonly<Record<"kek" | "oldKek", KeyObject | undefined>> {
  const kek = readSecretKey(env, "SIGNING_KEK_FILE");
  const oldKek = env.optional("SIGNING_OLD_KEK_FILE") ? readSecretKey(env, "SIGNING_OLD_KEK_FILE") : undefined;
  if (oldKek && kek?.equals(oldKek)) env.fault("SIGNING_OLD_KEK_FILE holds the same KEK as SIGNING_KEK_FILE");
  return { kek, oldKek };
}

function readAttestationKeys(env: EnvReader, isOn: boolean): KeyObject[] {
  const isSet = (variable: string) => env.optional(variable) !== undefined;
  const variables = ["ATTESTATION_KEY_FILE", "ATTESTATION_OLD_KEY_FILE"];
  const read = variables.filter((variable, index) => isSet(variable) || (isOn && index === 0));
  return read.flatMap((variable) => readSecretKey(env, variable) ?? []);
}

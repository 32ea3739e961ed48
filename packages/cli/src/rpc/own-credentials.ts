import { ConfigError } from "@vidimus/kit/env";
import type { RpcCredentials } from "@vidimus/kit/rpc/client/client";
import { CliError } from "../cli-error.ts";
import type { SettingName } from "../settings/setting-rules.ts";
import type { Settings } from "../settings/settings.ts";

const names = { certFile: "--cert", keyFile: "--keyfile", caFile: "--ca" };

/**
 * Makes credentials for a service from `--cert`, `--keyfile` and `--ca`; undefined when none of
 * them is set, for services without certificates.
 *
 * @param at the setting with the service's address; the gateway's is `access`
 * @throws CliError when only some are set, or a file cannot be used
 */
export async function ownCredentials(settings: Settings, at: string): Promise<RpcCredentials | undefined> {
  const settingsOfFiles = ["cert", "keyfile", "ca"] as const satisfies SettingName[];
  if (settingsOfFiles.every((name) => settings.find(name) === undefined)) return undefined;
  const identityPath = settings.find("identity-path");
  const files = {
    certFile: settings.get("cert"),
    keyFile: settings.get("keyfile"),
    caFile: settings.get("ca"),
    ...(identityPath === undefined ? {} : { identityPath }),
  };
  const { fileCredentials } = await import("@vidimus/kit/tls/file-credentials");
  try {
    return fileCredentials(files, at === "access" ? "gateway" : at, names);
  } catch (error) {
    if (error instanceof ConfigError) throw new CliError(error.message, { cause: error });
    throw error;
  }
}

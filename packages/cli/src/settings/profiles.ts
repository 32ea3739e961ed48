import { join } from "node:path";
import { CliError } from "../cli-error.ts";
import { isJsonObject } from "../json-object.ts";
import { readJsonFile } from "./json-file.ts";
import { requireOwnFile } from "./own-file.ts";
import { type SettingName, settingNames, type SettingValues } from "./setting-rules.ts";

/** The path of the profiles of a user. */
function profilesFile({ env, home }: Surroundings): string {
  return join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "vidimus", "profiles.json");
}

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
}

/**
 * Reads one profile: `{"NAME": {"gateway": "https://…", "access": "host:port", …}}`, keyed like the
 * flags.
 *
 * @throws CliError when the file or the profile is not there, others may read or change it, or it holds something that is no setting
 */
export async function readProfile(name: string, surroundings: Surroundings): Promise<SettingValues> {
  const file = profilesFile(surroundings);
  await requireOwnFile(file);
  const profiles = await readJsonFile(file);
  if (!profiles) throw new CliError(`there is no profile "${name}": ${file} does not exist`);
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (!isJsonObject(profile)) throw new CliError(`there is no profile "${name}" in ${file}; ${listed(profiles)}`);
  const values: SettingValues = {};
  for (const [key, value] of Object.entries(profile)) {
    if (!isSettingName(key)) throw new CliError(`profile "${name}" in ${file}: "${key}" is no setting`);
    if (typeof value !== "string") throw new CliError(`profile "${name}" in ${file}: "${key}" must be a string`);
    values[key] = value;
  }
  return values;
}

function isSettingName(key: string): key is SettingName {
  return settingNames.some((name) => name === key);
}

function listed(profiles: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(profiles);
  return names.length === 0 ? "it holds none" : `it holds ${names.join(", ")}`;
}

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError } from "../cli-error.ts";
import { isJsonObject, type JsonObject } from "../json-object.ts";
import { readJsonFile } from "./json-file.ts";
import { requireOwnFile } from "./own-file.ts";
import { type SettingName, settingNames, type SettingValues } from "./setting-rules.ts";

/**
 * Path of a file in the user's configuration folder: `profiles.json` holds all profiles, `profile`
 * the name of the chosen one.
 */
function fileOf(name: "profiles.json" | "profile", { env, home }: Surroundings): string {
  return join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "vidimus", name);
}

/** Tells where the user's files are: in XDG_CONFIG_HOME of `env`, else in `.config` of `home`. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
}

/**
 * Reads one profile of the file `{"NAME": {"gateway": "https://…", "access": "host:port"}}`, in
 * which settings have the names of their flags.
 *
 * @throws CliError when the file or the profile is missing, others may read or change it, or it is
 * malformed
 */
export async function readProfile(name: string, surroundings: Surroundings): Promise<SettingValues> {
  const file = fileOf("profiles.json", surroundings);
  const profiles = await readProfiles(surroundings);
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

/**
 * Reads all profiles; undefined when there is no file of profiles.
 *
 * @throws CliError when others may read or change the file, or it is malformed
 */
export async function readProfiles(surroundings: Surroundings): Promise<JsonObject | undefined> {
  const file = fileOf("profiles.json", surroundings);
  await requireOwnFile(file);
  return readJsonFile(file);
}

/** Adds or replaces a profile. Only the user may read the file, because it may hold keys. */
export async function saveProfile(name: string, values: SettingValues, surroundings: Surroundings): Promise<void> {
  const profiles = { ...(await readProfiles(surroundings)), [name]: values };
  await writeOwnFile(fileOf("profiles.json", surroundings), `${JSON.stringify(profiles, null, 2)}\n`);
}

/**
 * Returns the name of the profile that `profile use` chose; undefined without one.
 *
 * @throws CliError when others may read or change the file
 */
export async function chosenProfile(surroundings: Surroundings): Promise<string | undefined> {
  const file = fileOf("profile", surroundings);
  await requireOwnFile(file);
  return (await readFile(file, "utf8").catch(() => "")).trim() || undefined;
}

/** Chooses the profile of commands that name none and find no dev stack. */
export async function chooseProfile(name: string, surroundings: Surroundings): Promise<void> {
  await readProfile(name, surroundings);
  await writeOwnFile(fileOf("profile", surroundings), `${name}\n`);
}

/** Replaces a file by a rename, so that no reader sees an incomplete one. */
async function writeOwnFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}

function isSettingName(key: string): key is SettingName {
  return settingNames.some((name) => name === key);
}

function listed(profiles: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(profiles);
  return names.length === 0 ? "it holds none" : `it holds ${names.join(", ")}`;
}

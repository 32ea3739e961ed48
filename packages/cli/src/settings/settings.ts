import { readFileSync } from "node:fs";
import { CliError } from "../cli-error.ts";
import { type DevStack, findDevStack } from "./dev-stack.ts";
import { chosenProfile, readProfile } from "./profiles.ts";
import { type SettingName, settingNames, type SettingRule, settingRules, type SettingValues } from "./setting-rules.ts";

export interface SettingSources {
  flags: SettingValues & { profile?: string; "key-file"?: string };
  env: Readonly<Record<string, string | undefined>>;
  /** Where the search for `.vidimus/dev.json` starts. */
  cwd: string;
  home: string;
}

/** The settings of one command. A setting is checked when it is read. */
export interface Settings {
  /** A required setting. @throws CliError when no source has it, or when it is malformed */
  get(name: SettingName): string;
  /**
   * An optional setting; undefined when no source has it.
   *
   * @throws CliError when it is malformed
   */
  find(name: SettingName): string | undefined;
  /** The dev stack in use, unless a flag, the environment or a profile gives the setting. */
  devStackOf(name: SettingName): DevStack | undefined;
}

/**
 * Resolves settings: flags, then the environment (a secret may be in a file that it names), then
 * the named profile, else the dev stack found upwards from the working directory, within its
 * checkout, else the chosen profile. A profile describes a deployment of its own, so with a profile
 * nothing comes from a dev stack.
 *
 * @throws CliError when a named or chosen profile is missing, a file is malformed or cannot be
 * read, or a file of profiles or of the dev stack is open to other users
 */
export async function resolveSettings(sources: SettingSources): Promise<Settings> {
  const { flags, env } = sources;
  const fromEnv: SettingValues = Object.fromEntries(
    settingNames.map((name) => [name, env[settingRules[name].variable] || secretOf(name, env)]),
  );
  const key = flags.key || (flags["key-file"] && readSecret("--key-file", flags["key-file"]));
  const named = flags.profile || env["VIDIMUS_PROFILE"];
  const dev = named ? undefined : await findDevStack(sources.cwd);
  const profile = named || (dev ? undefined : await chosenProfile(sources));
  const fromProfile = profile ? await readProfile(profile, sources) : {};
  const given = (name: SettingName) => (name === "key" ? key : flags[name]) || fromEnv[name] || fromProfile[name];
  const value = (name: SettingName): string | undefined => given(name) || fallback(name, dev, () => value("tenant"));
  return {
    get(name) {
      const found = value(name);
      if (!found) throw new CliError(missing(name, { profile, dev, tenant: given("tenant") }));
      return checked(name, found);
    },
    find(name) {
      const found = value(name);
      return found ? checked(name, found) : undefined;
    },
    devStackOf: (name) => (given(name) ? undefined : dev),
  };
}

/** The content of the file that VIDIMUS_…_FILE names, for a setting that is a secret. */
function secretOf(name: SettingName, env: SettingSources["env"]): string | undefined {
  const { variable, secret }: SettingRule = settingRules[name];
  const file = secret ? env[`${variable}_FILE`] : undefined;
  return file && readSecret(`${variable}_FILE`, file);
}

function readSecret(source: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new CliError(`${source}: ${file} cannot be read (${code})`);
  }
}

function fallback(name: SettingName, dev: DevStack | undefined, tenant: () => string | undefined): string | undefined {
  if (name === "role") return "admin";
  if (!dev) return undefined;
  if (name === "tenant") return "demo";
  if (name === "key") return dev.keys.get(tenant() ?? "");
  return dev.addresses[name];
}

function missing(
  name: SettingName,
  found: { profile: string | undefined; dev: DevStack | undefined; tenant: string | undefined },
): string {
  const { variable, what }: SettingRule = settingRules[name];
  const ways = `pass --${name} or set ${variable}`;
  if (found.profile) return `${what} is needed, and profile "${found.profile}" has none: ${ways}`;
  if (found.dev) {
    const gap = name === "key" ? `no key of tenant "${found.tenant ?? "demo"}"` : `no "${name}"`;
    return `${what} is needed, and ${found.dev.file} knows ${gap}: ${ways}`;
  }
  return `no dev stack found: run \`npm start\`, or ${ways}, or name a --profile (${what} is needed)`;
}

function checked(name: SettingName, value: string): string {
  const { pattern, shape, variable, secret }: SettingRule = settingRules[name];
  if (pattern && !pattern.test(value)) {
    const shown = secret ? "" : `, not "${value}"`;
    throw new CliError(`--${name} (${variable}) must be ${shape}${shown}`);
  }
  return name === "gateway" ? value.replace(/\/+$/, "") : value;
}

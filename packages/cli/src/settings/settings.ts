import { readFileSync } from "node:fs";
import { CliError } from "../cli-error.ts";
import { type DevStack, findDevStack } from "./dev-stack.ts";
import { chosenProfile, readProfile } from "./profiles.ts";
import { type SettingName, settingNames, type SettingRule, settingRules, type SettingValues } from "./setting-rules.ts";

/** The sources of settings; the files are found through them. */
export interface SettingSources {
  /** From the command line. */
  flags: SettingValues & { profile?: string; "key-file"?: string };
  env: Readonly<Record<string, string | undefined>>;
  /** Where the search for `.vidimus/dev.json` starts. */
  cwd: string;
  home: string;
}

/** The settings of one command. A setting is checked when it is read. */
export interface Settings {
  /** A required setting. @throws CliError that says how to give it */
  get(name: SettingName): string;
  /**
   * An optional setting; undefined when no source has it.
   *
   * @throws CliError when it has the wrong form
   */
  find(name: SettingName): string | undefined;
  /** The dev stack that a setting's value is taken from; undefined when it was given otherwise. */
  devStackOf(name: SettingName): DevStack | undefined;
}

/**
 * Resolves settings: flags, then the environment, a secret of which may be in a file, then the profile that was named, else the dev
 * stack found upwards from the working directory, within its checkout, else the profile that was chosen. A profile stands for a deployment of its own, so
 * nothing is taken from a dev stack beside it.
 *
 * @throws CliError for a setting of the wrong form, a profile that is not there, a file that cannot
 * be read
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

/** The content of the file that VIDIMUS_…_FILE names, as far as the setting is a secret. */
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

import type { Command } from "commander";
import { CliError } from "./cli-error.ts";
import { settingNames, type SettingValues } from "./settings/setting-rules.ts";
import { resolveSettings, type Settings, type SettingSources } from "./settings/settings.ts";
import { printable } from "./terminal/printable.ts";
import type { World } from "./world.ts";

export interface Session {
  readonly world: World;
  readonly settings: Settings;
  /** Longest total of pauses between the attempts of one request to the public API, in ms. */
  readonly maxWaitMs: number;
  /** Writes to standard output: with --json `result` as a line of JSON, else `printable(text)`. */
  print(result: unknown, text: string): void;
}

interface GlobalOptions extends SettingValues {
  profile?: string;
  json?: boolean;
  maxWait: string;
}

export async function openSession(world: World, command: Command): Promise<Session> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { env, cwd, home } = world;
  return {
    world,
    settings: await resolveSettings({ flags: flagsOf(command), env, cwd, home }),
    maxWaitMs: readMaxWaitMs(options.maxWait),
    print: (result, text) => void world.stdout.write(`${options.json ? JSON.stringify(result) : printable(text)}\n`),
  };
}

/**
 * From flag to value, for settings and for `--profile` and `--key-file`; undefined for flags that
 * the command line does not have.
 */
export function flagsOf(command: Command): SettingSources["flags"] {
  const options = command.optsWithGlobals<GlobalOptions>();
  const names = ["profile", "key-file", ...settingNames] satisfies (keyof SettingSources["flags"])[];
  return Object.fromEntries(names.map((name) => [name, flagOf(options, name)]));
}

/** The value of a flag; commander stores `--console-url` as `consoleUrl`. */
function flagOf(options: object, name: string): string | undefined {
  const value: unknown = Reflect.get(
    options,
    name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
  );
  return typeof value === "string" ? value : undefined;
}

function readMaxWaitMs(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new CliError(`--max-wait must be whole seconds, not "${text}"`);
  return Number(text) * 1000;
}

import type { Command } from "commander";
import { CliError } from "./failure.ts";
import { type SettingName, settingNames, type SettingValues } from "./settings/setting.ts";
import { resolveSettings, type Settings } from "./settings/settings.ts";
import type { World } from "./world.ts";

/** One command under way. */
export interface Session {
  readonly world: World;
  readonly settings: Settings;
  /** Longest that answers of "later" are waited out, in all, for one request. */
  readonly maxWaitMs: number;
  /** Writes the result: as JSON for machines, else the words for people. */
  print(result: unknown, words: string): void;
}

interface GlobalOptions extends SettingValues {
  profile?: string;
  json?: boolean;
  maxWait: string;
}

/** Reads the options that all commands share, and resolves the settings. */
export async function openSession(world: World, command: Command): Promise<Session> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const flags: SettingValues & { profile?: string } = Object.fromEntries(
    (["profile", ...settingNames] satisfies ("profile" | SettingName)[]).map((name) => [name, options[name]]),
  );
  const { env, cwd, home } = world;
  return {
    world,
    settings: await resolveSettings({ flags, env, cwd, home }),
    maxWaitMs: readMaxWaitMs(options.maxWait),
    print: (result, words) => void world.stdout.write(`${options.json ? JSON.stringify(result) : words}\n`),
  };
}

function readMaxWaitMs(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new CliError(`--max-wait must be whole seconds, not "${text}"`);
  return Number(text) * 1000;
}

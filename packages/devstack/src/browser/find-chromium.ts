import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { DevstackError } from "../errors.ts";
import { binDir } from "../paths.ts";
import { chromiumPin } from "./chromium-pin.ts";
import { installChromium } from "./install-chromium.ts";

interface FoundChromium {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Only tests set these. */
export interface FindChromiumOptions {
  /** Folder of downloads; `.vidimus/bin` of the project by default. */
  readonly cacheDir?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: string;
  /** Receives a line for a download; stderr by default. */
  readonly report?: (line: string) => void;
  readonly install?: typeof installChromium;
}

const namesOnPath = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * The Chromium of `CHROMIUM_PATH`, else the pinned one, which is downloaded once, else one on PATH
 * when there is no pin for the platform.
 *
 * @throws DevstackError when CHROMIUM_PATH cannot be run, the download fails, or none is found
 */
export async function findChromium(options: FindChromiumOptions = {}): Promise<FoundChromium> {
  const { cacheDir = binDir, env = process.env, platform = `${process.platform}-${process.arch}` } = options;
  const named = env["CHROMIUM_PATH"];
  if (named !== undefined && named !== "") {
    if (await isExecutable(named)) return { path: named, env: {} };
    throw new DevstackError(`CHROMIUM_PATH names ${named}, which cannot be run`);
  }
  if (platform === chromiumPin.platform) return pinned(cacheDir, options);
  for (const folder of (env["PATH"] ?? "").split(delimiter).filter(Boolean)) {
    for (const name of namesOnPath) {
      const path = join(folder, name);
      if (await isExecutable(path)) return { path, env: {} };
    }
  }
  throw new DevstackError(`no Chromium for ${platform} is known: install one on PATH, or set CHROMIUM_PATH`);
}

async function pinned(cacheDir: string, options: FindChromiumOptions): Promise<FoundChromium> {
  const { report = (line) => void process.stderr.write(`${line}\n`), install = installChromium } = options;
  const folder = join(cacheDir, `chromium-${chromiumPin.version}`);
  const path = join(folder, "chromium");
  if (!(await isExecutable(path))) await install(folder, report);
  return { path, env: { LD_LIBRARY_PATH: join(folder, "lib"), FONTCONFIG_PATH: join(folder, "fonts") } };
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

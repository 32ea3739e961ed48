import { spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const here = join(import.meta.dirname, "../..");

/** Files of a commit, in a folder of their own that is removed on disposal. */
interface Tree extends Disposable {
  readonly dir: string;
}

/**
 * Writes the files of a commit to a folder in which Node and Vitest can run: packages come from
 * this checkout, workspaces from the folder itself.
 *
 * @param ref a commit, branch or tag
 */
export function openTree(ref: string): Tree {
  const dir = mkdtempSync(join(tmpdir(), "vidimus-tree-"));
  try {
    const packed = runGit("archive", "--format=tar", ref);
    const { status } = spawnSync("tar", ["-x", "-C", dir], { input: packed, stdio: ["pipe", "inherit", "inherit"] });
    if (status !== 0) throw new Error(`the files of ${ref} cannot be unpacked in ${dir}`);
    linkPackages(dir);
  } catch (error) {
    rmSync(dir, { recursive: true });
    throw error;
  }
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }) };
}

/**
 * Links of workspaces are relative to node_modules, so unchanged copies lead into the new folder.
 */
function linkPackages(dir: string): void {
  const packages = join(here, "node_modules");
  mkdirSync(join(dir, "node_modules/@vidimus"), { recursive: true });
  for (const name of readdirSync(packages).filter((name) => name !== "@vidimus"))
    symlinkSync(join(packages, name), join(dir, "node_modules", name));
  for (const name of readdirSync(join(packages, "@vidimus")))
    symlinkSync(readlinkSync(join(packages, "@vidimus", name)), join(dir, "node_modules/@vidimus", name));
  // Packages that only one workspace has.
  for (const workspace of ["packages", "services"].flatMap((kind) => workspacesOf(kind))) {
    const own = join(here, workspace, "node_modules");
    const names = listFolder(own);
    if (names.length > 0 && listFolder(join(dir, workspace)).length > 0)
      symlinkSync(own, join(dir, workspace, "node_modules"));
  }
  // The downloaded mongod and nats-server are linked, not downloaded again.
  mkdirSync(join(dir, ".vidimus"));
  if (listFolder(join(here, ".vidimus/bin")).length > 0)
    symlinkSync(join(here, ".vidimus/bin"), join(dir, ".vidimus/bin"));
}

const workspacesOf = (kind: string) => listFolder(join(here, kind)).map((name) => join(kind, name));

function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function runGit(...args: string[]): Buffer {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: here, maxBuffer: 1 << 29 });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${String(stderr).trim()}`);
  return stdout;
}

/** Returns paths relative to `dir`, without those of npm, git and the dev stack's state. */
export function filesOf(dir: string, path = ""): string[] {
  return readdirSync(join(dir, path), { withFileTypes: true }).flatMap((entry) => {
    const name = join(path, entry.name);
    if (entry.isDirectory()) return [".git", ".vidimus", "node_modules"].includes(entry.name) ? [] : filesOf(dir, name);
    return entry.isFile() ? [name] : [];
  });
}

import { projectDir } from "@vidimus/devstack/paths";
import { execFile } from "node:child_process";
import { access, mkdir, readdir, readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Checks a commit of this repository out into a folder, where it runs with the packages that are
 * installed here.
 *
 * @throws Error when the clone does not have the commit
 */
export async function checkOut(commit: string, dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  const archive = join(dir, "checkout.tar");
  await run("git", ["archive", "--output", archive, commit], { cwd: projectDir });
  await run("tar", ["-xf", archive, "-C", dir]);
  await rm(archive);
  const installed = join(projectDir, "node_modules");
  await mkdir(join(dir, "node_modules/@vidimus"), { recursive: true });
  for (const name of await readdir(installed)) {
    if (name !== "@vidimus") await symlink(join(installed, name), join(dir, "node_modules", name));
  }
  for (const folder of ["packages", "services"]) {
    for (const name of await readdir(join(dir, folder))) await link(dir, folder, name);
  }
}

/** The project's own packages are those of the checkout. */
async function link(dir: string, folder: string, name: string): Promise<void> {
  const place = join(dir, folder, name);
  const manifest = JSON.parse(await readFile(join(place, "package.json"), "utf8")) as { name: string };
  await symlink(place, join(dir, "node_modules", manifest.name));
  const own = join(projectDir, folder, name, "node_modules");
  const hasOwn = await access(own).then(
    () => true,
    () => false,
  );
  if (hasOwn) await symlink(own, join(place, "node_modules"));
}

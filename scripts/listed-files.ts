import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/**
 * Returns the files that git tracks below the current folder, and new ones that it does not ignore.
 */
export function listedFiles(): string[] {
  const { stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" });
  return stdout.split("\n").filter((file) => file !== "" && existsSync(file));
}

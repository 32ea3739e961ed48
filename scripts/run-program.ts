import { spawnSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/**
 * Runs a program, by default in the repository's root, and prints its output. Throws when it cannot
 * be run or fails.
 */
export function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): void {
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    ...options,
  });
  if (error) throw new Error(`${program} is needed and cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed`);
}

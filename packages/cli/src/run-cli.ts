import { CommanderError } from "commander";
import { CliError } from "./cli-error.ts";
import { buildProgram } from "./program.ts";
import { printable } from "./terminal/printable.ts";
import type { World } from "./world.ts";

/**
 * Runs one command line.
 *
 * @param argv the words after `vidimus`
 * @returns the exit code: 0 done, 1 failed, 2 the command line was wrong
 */
export async function runCli(argv: readonly string[], world: World): Promise<number> {
  try {
    await (await buildProgram(world, argv)).parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has already printed its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const message = error instanceof CliError ? error.message : `unexpected: ${stackOf(error)}`;
    world.stderr.write(`error: ${printable(message)}\n`);
    return 1;
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * An expected failure of a command: its message is printed without a stack trace, and the command
 * exits with 1.
 */
export class CliError extends Error {
  override readonly name = "CliError";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

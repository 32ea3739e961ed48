/** A failure in words for whoever typed the command; printed without a stack, and the command exits with 1. */
export class CliError extends Error {
  override readonly name = "CliError";
}

/** The words of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A message, and below it a line for each violation: its JSON pointer and what is wrong there. */
export function withViolations(message: string, violations: readonly { pointer: string; message: string }[]): string {
  return [message, ...violations.map((each) => `  ${each.pointer || "(the whole)"}: ${each.message}`)].join("\n");
}

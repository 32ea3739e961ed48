import { withViolations } from "./with-violations.ts";

/** A refusal of a service, as `ErrorInfo` has it. */
interface Refusal {
  readonly message: string;
  readonly violations: readonly { readonly pointer: string; readonly message: string }[];
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * The message, a line for each violation, and, where the service names them, the transitions that
 * the caller's role may take now.
 */
export function describeRefusal({ message, violations, metadata }: Refusal): string {
  const { legal_transitions: legal } = metadata;
  const instead = legal === undefined ? [] : [`possible now: ${legal.replaceAll(",", ", ") || "no transition"}`];
  return [withViolations(message, violations), ...instead].join("\n");
}

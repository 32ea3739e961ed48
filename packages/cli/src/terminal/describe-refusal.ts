import { withPlaces } from "./with-places.ts";

/** A refusal of a service, as `ErrorInfo` has it. */
interface Refusal {
  readonly message: string;
  readonly violations: readonly { readonly pointer: string; readonly message: string }[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** Describes a refusal: its message, the invalid places, and the transitions that are possible. */
export function describeRefusal({ message, violations, metadata }: Refusal): string {
  const { legal_transitions: legal } = metadata;
  const instead = legal === undefined ? [] : [`possible now: ${legal.replaceAll(",", ", ") || "no transition"}`];
  return [withPlaces(message, violations), ...instead].join("\n");
}

import type { Endpoint } from "./endpoint.ts";
import type { Snapshot } from "./payload.ts";

/** Whether an endpoint's filter lets a snapshot through: its event and its document's type. */
export function wants(
  { events, documentTypes }: Pick<Endpoint, "events" | "documentTypes">,
  { status, documentType }: Pick<Snapshot, "status" | "documentType">,
): boolean {
  return (
    events.some((event) => event === `snapshot.${status}`) &&
    (documentTypes === undefined || documentTypes.includes(documentType))
  );
}

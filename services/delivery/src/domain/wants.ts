import type { Endpoint, EndpointEvent } from "./endpoint.ts";
import type { Snapshot } from "./payload.ts";

const eventOf: Readonly<Record<string, EndpointEvent | undefined>> = {
  usable: "snapshot.usable",
  withheld: "snapshot.withheld",
};

export function wants(
  { events, documentTypes }: Pick<Endpoint, "events" | "documentTypes">,
  { status, documentType }: Pick<Snapshot, "status" | "documentType">,
): boolean {
  const event = eventOf[status];
  return (
    event !== undefined &&
    events.includes(event) &&
    (documentTypes === undefined || documentTypes.includes(documentType))
  );
}

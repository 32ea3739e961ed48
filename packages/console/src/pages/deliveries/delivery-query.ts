import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListDeliveriesRequestSchema } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { Fault } from "../parts/faults.ts";
import { notATime, readUtc } from "../parts/utc-field.ts";

/** The filters of the list of deliveries, as its URL has them; "" for no filter. */
export interface DeliveryQuery {
  readonly state: string;
  readonly document: string;
  readonly endpoint: string;
  readonly webhook: string;
  readonly since: string;
  readonly until: string;
}

export function readDeliveryQuery(query: URLSearchParams): DeliveryQuery {
  const text = (name: string) => query.get(name)?.trim() ?? "";
  return {
    state: text("state"),
    document: text("document"),
    endpoint: text("endpoint"),
    webhook: text("webhook"),
    since: text("since"),
    until: text("until"),
  };
}

export function isNarrowed(query: DeliveryQuery): boolean {
  return Object.values(query).some((value) => value !== "");
}

/**
 * From the JSON pointer to a field of the request, which delivery may refuse, to the name of the
 * form's field.
 */
export const queryFields = { "/states": "state", "/documentId": "document", "/endpointId": "endpoint" };

type ListRequest = Omit<MessageInitShape<typeof ListDeliveriesRequestSchema>, "$typeName">;

/** The request to delivery, or the fault of the first malformed time. */
export function requestOf(asked: DeliveryQuery): { readonly value: ListRequest } | { readonly faults: Fault[] } {
  const [since, until] = [readUtc(asked.since), readUtc(asked.until)];
  if (since === "malformed") return { faults: [notATime("since")] };
  if (until === "malformed") return { faults: [notATime("until")] };
  return {
    value: {
      states: asked.state === "" ? [] : [asked.state],
      documentId: asked.document,
      endpointId: asked.endpoint,
      webhookId: asked.webhook,
      ...(since && { since }),
      ...(until && { until }),
    },
  };
}

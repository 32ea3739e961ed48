import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { EndpointSchema } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { ManagedEndpoint } from "../domain/endpoint.ts";

/** An endpoint as its message, which has no secret, and of headers only the names. */
export function toProto(endpoint: ManagedEndpoint): MessageInitShape<typeof EndpointSchema> {
  const { endpointId, tenantId, url, events, maxInFlight, disabled, previousSecretEndsAt } = endpoint;
  const { documentTypes = [], ratePerSecond = 0 } = endpoint;
  return {
    endpointId,
    tenantId,
    url,
    createdAt: timestampFromDate(endpoint.createdAt),
    updatedAt: timestampFromDate(endpoint.updatedAt),
    events: [...events],
    documentTypes: [...documentTypes],
    headerNames: Object.keys(endpoint.headers).toSorted(),
    maxInFlight,
    ratePerSecond,
    ...(disabled ? { disablement: toDisablement(disabled) } : {}),
    ...(previousSecretEndsAt ? { previousSecretEndsAt: timestampFromDate(previousSecretEndsAt) } : {}),
  };
}

function toDisablement({ at, reason, by = "" }: NonNullable<ManagedEndpoint["disabled"]>) {
  return { at: timestampFromDate(at), reason, actor: by };
}

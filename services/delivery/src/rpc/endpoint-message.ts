import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { EndpointSchema } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { Endpoint } from "../domain/delivery.ts";

/** An endpoint as its message, which has no secret. */
export function toProto(endpoint: Endpoint): MessageInitShape<typeof EndpointSchema> {
  const { endpointId, tenantId, url, createdAt } = endpoint;
  return { endpointId, tenantId, url, createdAt: timestampFromDate(createdAt) };
}

import { durationMs } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { newSecret, rotated, showSecret } from "../domain/change-endpoint.ts";
import { changeEndpoint, type ChangeEndpointDeps } from "./change-endpoint.ts";
import { toProto } from "./endpoint-message.ts";
import type { MayChange } from "./may-change.ts";

const overlapMsByDefault = 24 * 60 * 60 * 1000;

/** Only this answer contains the new secret. */
export function rotateEndpointSecret(
  deps: ChangeEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.rotateEndpointSecret> {
  return async (request, context) => {
    const by = mayChange(context);
    const overlapMs = request.overlap ? durationMs(request.overlap) : overlapMsByDefault;
    const secret = newSecret();
    const changed = await changeEndpoint(deps, { action: "rotate_endpoint_secret", by }, request, (endpoint, now) =>
      rotated(endpoint, secret, overlapMs, now),
    );
    return { endpoint: toProto(changed), secret: showSecret(secret) };
  };
}

import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService, UpdateEndpointRequest } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DomainError } from "@vidimus/kit/errors";
import { newSecret, parseSecret, rotated, showSecret } from "../domain/change-endpoint.ts";
import { requireDocumentTypes } from "../domain/endpoint-settings.ts";
import { changeEndpoint, type ChangeEndpointDeps, requireEndpoint } from "./change-endpoint.ts";
import { toProto } from "./endpoint-message.ts";
import { type EndpointSettingsDeps, withSettings } from "./endpoint-settings.ts";
import { type KnownTypesDeps, requireKnownTypes } from "./known-types.ts";
import type { MayChange } from "./may-change.ts";

/**
 * A URL and a secret that are given together change in one write, and an attempt takes both from
 * one reading, so that neither server gets a webhook signed with the other's secret.
 */
export function updateEndpoint(
  deps: ChangeEndpointDeps & EndpointSettingsDeps & KnownTypesDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.updateEndpoint> {
  return async (request, context) => {
    const by = mayChange(context);
    const secret = secretOf(request);
    await requireTypes(deps, request, context.signal);
    const changed = await changeEndpoint(deps, { action: "update_endpoint", by }, request, (endpoint, now) => {
      const settled = withSettings(deps, endpoint, request);
      return secret ? rotated(settled, secret, 0, now) : settled;
    });
    return { endpoint: toProto(changed), secret: secret && request.rotateSecret ? showSecret(secret) : "" };
  };
}

/** The secret that replaces all others; undefined to keep them. */
function secretOf({ secret, rotateSecret }: UpdateEndpointRequest): Buffer | undefined {
  if (secret === "") return rotateSecret ? newSecret() : undefined;
  if (!rotateSecret) return parseSecret(secret);
  const message = "must not be given when one is to be made";
  throw new DomainError("invalid", `secret ${message}`, { violations: [{ pointer: "/secret", message }] });
}

async function requireTypes(
  deps: ChangeEndpointDeps & KnownTypesDeps,
  request: UpdateEndpointRequest,
  signal: AbortSignal,
): Promise<void> {
  const { names = [] } = request.documentTypes ?? {};
  if (names.length === 0) return;
  const { tenantId, documentTypes } = await requireEndpoint(deps.endpoints, request, signal);
  requireDocumentTypes(names);
  await requireKnownTypes(deps, tenantId, names, documentTypes, signal);
}

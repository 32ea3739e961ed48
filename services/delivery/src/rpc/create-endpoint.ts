import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId, uuidv7 } from "@vidimus/kit/ids";
import { disabled, newSecret, parseSecret, showSecret } from "../domain/change-endpoint.ts";
import { endpointsMax, eventsByDefault, type ManagedEndpoint, maxInFlightByDefault } from "../domain/endpoint.ts";
import type { PostWebhook } from "../net/post-webhook.ts";
import type { AuditedEndpoints } from "../store/audited-endpoints.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { toProto } from "./endpoint-message.ts";
import { type EndpointSettingsDeps, readSettings } from "./endpoint-settings.ts";
import { type KnownTypesDeps, requireKnownTypes } from "./known-types.ts";
import type { MayChange } from "./may-change.ts";
import { pingEndpoint } from "./ping-endpoint.ts";

export interface CreateEndpointDeps extends EndpointSettingsDeps, KnownTypesDeps {
  endpoints: Pick<EndpointStore, "count">;
  audited: Pick<AuditedEndpoints, "insert">;
  post: PostWebhook;
}

/** Only this answer contains the generated secret. */
export function createEndpoint(
  deps: CreateEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.createEndpoint> {
  return async (request, context) => {
    const by = mayChange(context);
    const tenantId = requireTenantId(request.tenantId);
    const { url, ...settings } = readSettings(deps, request);
    const isGiven = request.secret !== "";
    const secret = isGiven ? parseSecret(request.secret) : newSecret();
    await requireKnownTypes(deps, tenantId, request.documentTypes?.names ?? [], [], context.signal);
    const now = new Date();
    const created: ManagedEndpoint = {
      endpointId: uuidv7(),
      tenantId,
      url,
      name: "",
      description: "",
      secrets: [secret],
      createdAt: now,
      updatedAt: now,
      enabled: true,
      events: eventsByDefault,
      headers: {},
      maxInFlight: maxInFlightByDefault,
      notices: [],
      revision: 1,
      ...settings,
    };
    const endpoint = request.disabled ? disabled(created, "operator", now, by.actor) : created;
    // Two concurrent creations may both pass: the limit only has to stop a runaway program.
    if ((await deps.endpoints.count(tenantId)) >= endpointsMax) {
      throw new DomainError("failed_precondition", `the tenant has ${endpointsMax} endpoints, which is the most`);
    }
    await deps.audited.insert(endpoint, by);
    const ping = request.verify ? { ping: await pingEndpoint(deps.post, endpoint) } : {};
    return { endpoint: toProto(endpoint), secret: isGiven ? "" : showSecret(secret), ...ping };
  };
}

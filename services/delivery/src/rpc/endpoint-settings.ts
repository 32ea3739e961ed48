import {
  requireDocumentTypes,
  requireEvents,
  requireHeaders,
  requireMaxInFlight,
  requireRate,
} from "../domain/endpoint-settings.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import { parseEndpointUrl, type UrlRule } from "../domain/endpoint-url.ts";

export interface EndpointSettingsDeps {
  urlRule: UrlRule;
}

/** Settings in a request; absent ones keep their value. */
interface SettingsRequest {
  readonly url?: string | undefined;
  readonly events?: { readonly names: readonly string[] } | undefined;
  readonly documentTypes?: { readonly names: readonly string[] } | undefined;
  readonly headers?: { readonly values: Readonly<Record<string, string>> } | undefined;
  readonly maxInFlight?: number | undefined;
  readonly ratePerSecond?: number | undefined;
}

/** The settings of an endpoint that a request may give. */
type Settings = Pick<ManagedEndpoint, "url" | "events" | "documentTypes" | "headers" | "maxInFlight" | "ratePerSecond">;

/** The settings that a request to create an endpoint has. @throws DomainError `invalid` */
export function readSettings(
  deps: EndpointSettingsDeps,
  request: SettingsRequest & { url: string },
): Pick<Settings, "url"> & Partial<Settings> {
  return { url: parseEndpointUrl(request.url, deps.urlRule), ...readGiven(request) };
}

/** The endpoint with the settings that a request has. @throws DomainError `invalid` */
export function withSettings(
  deps: EndpointSettingsDeps,
  endpoint: ManagedEndpoint,
  request: SettingsRequest,
): ManagedEndpoint {
  const { documentTypes, ratePerSecond, ...rest } = endpoint;
  return {
    ...rest,
    ...(request.documentTypes || !documentTypes ? {} : { documentTypes }),
    ...(request.ratePerSecond !== undefined || ratePerSecond === undefined ? {} : { ratePerSecond }),
    ...(request.url === undefined ? {} : { url: parseEndpointUrl(request.url, deps.urlRule) }),
    ...readGiven(request),
  };
}

function readGiven(request: SettingsRequest): Partial<Settings> {
  const documentTypes = request.documentTypes && requireDocumentTypes(request.documentTypes.names);
  const ratePerSecond = request.ratePerSecond === undefined ? undefined : requireRate(request.ratePerSecond);
  return {
    ...(request.events ? { events: requireEvents(request.events.names) } : {}),
    ...(documentTypes ? { documentTypes } : {}),
    ...(request.headers ? { headers: requireHeaders(request.headers.values) } : {}),
    ...(request.maxInFlight === undefined ? {} : { maxInFlight: requireMaxInFlight(request.maxInFlight) }),
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
  };
}

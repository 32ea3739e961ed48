import { DomainError } from "@vidimus/kit/errors";
import {
  requireDescription,
  requireDocumentTypes,
  requireEvents,
  requireHeaders,
  requireMaxInFlight,
  requireName,
  requireRate,
} from "../domain/endpoint-settings.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import { parseEndpointUrl, type UrlRule } from "../domain/endpoint-url.ts";

export interface EndpointSettingsDeps {
  urlRule: UrlRule;
}

/** An absent setting keeps its value, or gets its default when the endpoint is created. */
interface SettingsRequest {
  readonly url?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly events?: { readonly names: readonly string[] } | undefined;
  readonly documentTypes?: { readonly names: readonly string[] } | undefined;
  readonly headers?: { readonly values: Readonly<Record<string, string>> } | undefined;
  readonly maxInFlight?: number | undefined;
  readonly ratePerSecond?: number | undefined;
}

type Settings = Pick<
  ManagedEndpoint,
  "url" | "name" | "description" | "events" | "documentTypes" | "headers" | "maxInFlight" | "ratePerSecond"
>;

/**
 * Leaves out settings that the request does not give. @throws DomainError `invalid` when a given
 * one breaks its rule
 */
export function readSettings(
  deps: EndpointSettingsDeps,
  request: SettingsRequest & { url: string },
): Pick<Settings, "url"> & Partial<Settings> {
  return { url: parseEndpointUrl(request.url, deps.urlRule), ...readGiven(request) };
}

/**
 * The endpoint with the settings that a request gives; its other settings stay.
 *
 * @throws DomainError `invalid` when a given setting breaks its rule, or when the endpoint has
 * headers, the URL has another origin and the request does not give headers
 */
export function withSettings(
  deps: EndpointSettingsDeps,
  endpoint: ManagedEndpoint,
  request: SettingsRequest,
): ManagedEndpoint {
  const { documentTypes, ratePerSecond, ...rest } = endpoint;
  const url = request.url === undefined ? endpoint.url : parseEndpointUrl(request.url, deps.urlRule);
  if (!request.headers) requireSameOrigin(endpoint, url);
  return {
    ...rest,
    ...(request.documentTypes || !documentTypes ? {} : { documentTypes }),
    ...(request.ratePerSecond !== undefined || ratePerSecond === undefined ? {} : { ratePerSecond }),
    url,
    ...readGiven(request),
  };
}

/**
 * Headers often contain the receiver's credentials, which a caller may not read. To send them to
 * another server, the caller must give them again.
 */
function requireSameOrigin({ url, headers }: ManagedEndpoint, newUrl: string): void {
  const names = Object.keys(headers).toSorted();
  if (names.length === 0 || new URL(newUrl).origin === new URL(url).origin) return;
  const message = `must be given again for a URL of another origin, or be none; there are ${names.join(", ")}`;
  throw new DomainError("invalid", `headers ${message}`, { violations: [{ pointer: "/headers", message }] });
}

function readGiven(request: SettingsRequest): Partial<Settings> {
  const documentTypes = request.documentTypes && requireDocumentTypes(request.documentTypes.names);
  const ratePerSecond = request.ratePerSecond === undefined ? undefined : requireRate(request.ratePerSecond);
  return {
    ...(request.name === undefined ? {} : { name: requireName(request.name) }),
    ...(request.description === undefined ? {} : { description: requireDescription(request.description) }),
    ...(request.events ? { events: requireEvents(request.events.names) } : {}),
    ...(documentTypes ? { documentTypes } : {}),
    ...(request.headers ? { headers: requireHeaders(request.headers.values) } : {}),
    ...(request.maxInFlight === undefined ? {} : { maxInFlight: requireMaxInFlight(request.maxInFlight) }),
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
  };
}

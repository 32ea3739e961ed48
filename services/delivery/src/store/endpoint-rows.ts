import { Binary } from "mongodb";
import { randomBytes } from "node:crypto";
import {
  type EndpointEvent,
  endpointEvents,
  eventsByDefault,
  type ManagedEndpoint,
  maxInFlightByDefault,
} from "../domain/endpoint.ts";
import type { EndpointRow, SecretRow } from "./rows.ts";
import type { SecretBox } from "./secret-box.ts";

/**
 * Seals secrets and headers in every call, for the endpoint's current URL.
 *
 * @throws Error when the endpoint could not be opened, because its secrets are not known then
 */
export function toRow(box: SecretBox, endpoint: ManagedEndpoint): EndpointRow {
  if (endpoint.unopened !== undefined) throw new Error(`endpoint ${endpoint.endpointId} cannot be opened`);
  const { endpointId, tenantId, url, createdAt, updatedAt, events, maxInFlight, revision } = endpoint;
  const { name, description, documentTypes, headers, ratePerSecond, enabledAt, disabled, notices } = endpoint;
  return {
    _id: endpointId,
    tenantId,
    url,
    createdAt,
    updatedAt,
    secrets: toSecretRows(box, endpoint),
    events: [...events],
    maxInFlight,
    revision,
    ...(name ? { name } : {}),
    ...(description ? { description } : {}),
    ...(documentTypes ? { documentTypes: [...documentTypes] } : {}),
    ...(Object.keys(headers).length > 0 ? { headers: sealHeaders(box, endpoint) } : {}),
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
    ...(enabledAt ? { enabledAt } : {}),
    ...(disabled ? { disabled } : {}),
    ...(notices.length > 0 ? { notices: [...notices] } : {}),
  };
}

/**
 * Leaves out a previous secret whose time has ended.
 *
 * @throws Error when a secret or the headers cannot be opened
 */
export function fromRow(box: SecretBox, row: EndpointRow, now: Date): ManagedEndpoint {
  const owner = { tenantId: row.tenantId, endpointId: row._id, url: row.url };
  const { name = "", description = "", documentTypes, ratePerSecond, enabledAt, disabled } = row;
  const { secrets, previousSecretEndsAt } = openSecrets(box, row, now);
  return {
    ...owner,
    name,
    description,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    secrets,
    enabled: !disabled,
    events: row.events.filter(isEndpointEvent),
    headers: row.headers ? openHeaders(box, owner, row.headers) : {},
    maxInFlight: row.maxInFlight,
    notices: row.notices ?? [],
    revision: row.revision,
    ...(documentTypes ? { documentTypes } : {}),
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
    ...(enabledAt ? { enabledAt } : {}),
    ...(disabled ? { disabled } : {}),
    ...(previousSecretEndsAt ? { previousSecretEndsAt } : {}),
  };
}

/**
 * A row that cannot be opened, as an endpoint to which nothing is sent. The row may be incomplete.
 * The secret is random, so that anything signed with it by mistake does not verify.
 */
export function fromUnopenedRow(row: Partial<EndpointRow>, why: string): ManagedEndpoint {
  const { _id: endpointId = "", tenantId = "", url = "", name = "", description = "" } = row;
  const { createdAt = new Date(0), maxInFlight = maxInFlightByDefault, revision = 0, disabled, enabledAt } = row;
  const { documentTypes, updatedAt = createdAt, events = eventsByDefault } = row;
  return {
    endpointId,
    tenantId,
    url: URL.canParse(url) ? url : "https://unknown.invalid/",
    name,
    description,
    createdAt,
    updatedAt,
    secrets: [randomBytes(32)],
    enabled: false,
    unopened: why,
    events: events.filter(isEndpointEvent),
    headers: {},
    maxInFlight,
    notices: [],
    revision,
    ...(documentTypes ? { documentTypes } : {}),
    ...(enabledAt ? { enabledAt } : {}),
    ...(disabled ? { disabled } : {}),
  };
}

/**
 * Whether a row has values that the newest KEK has not sealed. Always false until every process has
 * that KEK.
 */
export function needsSealing(box: SecretBox, { secrets, headers }: EndpointRow): boolean {
  const sealed = [...secrets.map((each) => each.sealed), ...(headers ? [headers] : [])];
  return sealed.some((each) => !box.isCurrent(each.value()));
}

function openSecrets(box: SecretBox, row: EndpointRow, now: Date) {
  const owner = { tenantId: row.tenantId, endpointId: row._id, url: row.url };
  const [newest, previous] = row.secrets;
  if (!newest) throw new Error(`endpoint ${row._id} is stored without a secret`);
  const first = box.open(owner, "secret", newest.sealed.value());
  if (!previous?.endsAt || previous.endsAt <= now) return { secrets: [first] as const };
  const second = box.open(owner, "secret", previous.sealed.value());
  return { secrets: [first, second] as const, previousSecretEndsAt: previous.endsAt };
}

function toSecretRows(box: SecretBox, endpoint: ManagedEndpoint): SecretRow[] {
  const { secrets, previousSecretEndsAt: endsAt } = endpoint;
  return secrets.map((secret, index) => {
    const sealed = new Binary(box.seal(endpoint, "secret", secret));
    return index > 0 && endsAt ? { sealed, endsAt } : { sealed };
  });
}

function sealHeaders(box: SecretBox, endpoint: ManagedEndpoint): Binary {
  return new Binary(box.seal(endpoint, "headers", Buffer.from(JSON.stringify(endpoint.headers))));
}

function openHeaders(box: SecretBox, owner: Parameters<SecretBox["open"]>[0], sealed: Binary): Record<string, string> {
  return JSON.parse(box.open(owner, "headers", sealed.value()).toString()) as Record<string, string>;
}

/** A later release may have stored events that this one does not know; they are left out. */
function isEndpointEvent(text: string): text is EndpointEvent {
  return endpointEvents.some((event) => event === text);
}

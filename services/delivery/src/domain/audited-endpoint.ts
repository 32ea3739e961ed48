import type { ManagedEndpoint } from "./endpoint.ts";

/**
 * A value before and after a change. One of them is absent for a value that was added or removed.
 */
interface Replaced {
  readonly from?: unknown;
  readonly to?: unknown;
}

/**
 * The audit log's detail of a change of an endpoint: what differs, with both values. Of a URL it
 * has only the origin, because the path may be a credential; of headers only the names; of the
 * secret only that it changed.
 *
 * @param before undefined when the endpoint was registered
 */
export function auditedEndpoint(before: ManagedEndpoint | undefined, after: ManagedEndpoint): Record<string, unknown> {
  const from = before ? settingsOf(before) : {};
  const to = settingsOf(after);
  const replaced = Object.keys(to).filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]));
  return {
    ...Object.fromEntries(replaced.map((name): [string, Replaced] => [name, { from: from[name], to: to[name] }])),
    ...(before ? hiddenChanges(before, after) : {}),
  };
}

/** Settings whose values the audit log may contain. */
function settingsOf(endpoint: ManagedEndpoint): Record<string, unknown> {
  const { url, name, description, enabled, events, documentTypes, headers, maxInFlight } = endpoint;
  const { ratePerSecond, previousSecretEndsAt } = endpoint;
  const headerNames = Object.keys(headers).toSorted();
  const shown = { origin: new URL(url).origin, name, description, enabled, events, documentTypes, headerNames };
  return { ...shown, maxInFlight, ratePerSecond, previousSecretEndsAt };
}

/**
 * From the name of a changed field to `changed`, for fields whose values the audit log must not
 * contain.
 */
function hiddenChanges(before: ManagedEndpoint, after: ManagedEndpoint): Record<string, "changed"> {
  const pairs = {
    url: [before.url, after.url],
    headers: [before, after].map(({ headers }) =>
      Object.keys(headers)
        .toSorted()
        .map((name) => [name, headers[name]]),
    ),
    secret: [before.secrets[0], after.secrets[0]].map((each) => Buffer.from(each).toString("base64")),
  };
  const changed = Object.entries(pairs).filter(([, [one, other]]) => JSON.stringify(one) !== JSON.stringify(other));
  return Object.fromEntries(changed.map(([name]) => [name, "changed"]));
}

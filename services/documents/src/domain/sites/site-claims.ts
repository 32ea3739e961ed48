import type { Violation } from "@vidimus/kit/errors";
import type { JsonValue } from "../json/json-value.ts";
import type { PublicationKeys } from "../published-reads/publication-keys.ts";
import { normalHost } from "./host-name.ts";

export const siteType = "core/publisher-site";

/** What a published site has for itself alone. */
export interface SiteClaim {
  readonly documentId: string;
  readonly hosts: readonly string[];
  readonly isPrimary: boolean;
}

/** What a document claims with its keys; undefined for one that is no site. */
export function claimOf(type: string, documentId: string, { host, primary }: PublicationKeys): SiteClaim | undefined {
  return type === siteType ? { documentId, hosts: host ?? [], isPrimary: primary !== undefined } : undefined;
}

/** Hosts of a site that are no host names, so that nobody could find it by them. */
export function hostFaults(type: string, meta: Readonly<Record<string, unknown>>): Violation[] {
  const hosts: unknown = type === siteType ? meta["hosts"] : [];
  if (!Array.isArray(hosts)) return [];
  return hosts.flatMap((host: unknown, index) => {
    if (typeof host === "string" && normalHost(host) !== undefined) return [];
    return [{ pointer: `/meta/hosts/${index}`, message: "is no host name such as www.example.com" }];
  });
}

/** What keeps a claim from standing beside others: each host has one site, and one site is primary. */
export function conflictsWith(
  claim: SiteClaim,
  others: readonly SiteClaim[],
  hosts: JsonValue | undefined,
): Violation[] {
  const names = Array.isArray(hosts) ? hosts : [];
  return others.flatMap(({ documentId, hosts: held, isPrimary }): Violation[] => {
    if (documentId === claim.documentId) return [];
    const taken = claim.hosts.filter((host) => held.includes(host));
    const faults = taken.map((host): Violation => {
      const index = names.findIndex((name) => typeof name === "string" && normalHost(name) === host);
      return { pointer: `/meta/hosts/${index}`, message: `is ${host}, a host of published site ${documentId}` };
    });
    const primary = { pointer: "/meta/primary", message: `published site ${documentId} is the primary one` };
    return claim.isPrimary && isPrimary ? [...faults, primary] : faults;
  });
}

/** A site that a batch publishes. */
export interface ClaimingSite {
  readonly claim: SiteClaim;
  /** `meta.hosts` as it was written, for pointers. */
  readonly hosts: JsonValue | undefined;
}

/**
 * Judges the sites of a batch by the state after it: what sites outside of it hold, and what the batch
 * publishes, in order. Of two sites of the batch the first has the host.
 *
 * @param standing of published sites, before the batch
 * @param changed ids of all documents that the batch publishes or withdraws
 * @returns the faults of each site that cannot be published
 */
export function judgeSites(
  standing: readonly SiteClaim[],
  changed: ReadonlySet<string>,
  sites: readonly ClaimingSite[],
): Map<string, Violation[]> {
  const after = standing.filter(({ documentId }) => !changed.has(documentId));
  const faults = new Map<string, Violation[]>();
  for (const { claim, hosts } of sites) {
    const found = conflictsWith(claim, after, hosts);
    if (found.length > 0) faults.set(claim.documentId, found);
    else after.push(claim);
  }
  return faults;
}

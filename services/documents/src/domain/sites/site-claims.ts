import type { Violation } from "@vidimus/kit/errors";
import type { JsonValue } from "../json/json-value.ts";
import { normalHost } from "./host-name.ts";
import { siteType } from "./site-type.ts";

/** What only one published site of a tenant may have: its hosts, and being the primary one. */
export interface SiteClaim {
  readonly documentId: string;
  readonly hosts: readonly string[];
  readonly isPrimary: boolean;
}

/** Members of `PublicationKeys`; `primary` is "true" or undefined. */
interface SiteKeys {
  readonly host: readonly string[] | undefined;
  readonly primary: string | undefined;
}

export function claimOf(type: string, documentId: string, { host, primary }: SiteKeys): SiteClaim | undefined {
  return type === siteType ? { documentId, hosts: host ?? [], isPrimary: primary !== undefined } : undefined;
}

export function hostFaults(type: string, meta: Readonly<Record<string, unknown>>): Violation[] {
  const hosts: unknown = type === siteType ? meta["hosts"] : [];
  if (!Array.isArray(hosts)) return [];
  return hosts.flatMap((host: unknown, index) => {
    if (typeof host === "string" && normalHost(host) !== undefined) return [];
    return [{ pointer: `/meta/hosts/${index}`, message: "is no host name such as www.example.com" }];
  });
}

/**
 * Violations for the hosts that another site has, and for a second primary site. See
 * `ClaimingSite` for `hosts`.
 */
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
  /** `meta.hosts` as it was written: the pointers of violations count its items. */
  readonly hosts: JsonValue | undefined;
}

/**
 * Checks the sites of a batch against the published sites outside of the batch, and against each
 * other in the order of the batch. Of two sites of the batch that claim a host, the first without
 * faults gets it.
 *
 * @param standing claims of sites that are published before the batch
 * @param changed ids of all documents that the batch publishes or withdraws
 * @returns from document id to the faults of a site that cannot be published
 */
export function checkSites(
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

import type { Filter } from "mongodb";
import type { SiteClaim } from "../domain/sites/site-claims.ts";
import type { PublicationRow } from "./publication-row.ts";

export const siteColumns = { _id: 0, documentId: 1, host: 1, primary: 1 } as const;
export type SiteRow = Pick<PublicationRow, "documentId" | "host" | "primary">;

/** Finds published sites only, because no other row has `host` or `primary`. */
export function siteFilter(tenantId: string, claims: readonly SiteClaim[]): Filter<PublicationRow> {
  const hosts = [...new Set(claims.flatMap((claim) => claim.hosts))];
  const primary = claims.some(({ isPrimary }) => isPrimary) ? [{ tenantId, primary: "true" }] : [];
  return { $or: [{ tenantId, host: { $in: hosts } }, ...primary] };
}

export function toSiteClaim({ documentId, host, primary }: SiteRow): SiteClaim {
  return { documentId, hosts: host ?? [], isPrimary: primary !== undefined };
}

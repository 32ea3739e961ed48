import { Binary } from "mongodb";
import type { Publication } from "../domain/transitions/changes.ts";

/**
 * `publications`: what readers see, one row a document, kept as a tombstone once withdrawn.
 *
 * A new column also belongs into `changes.ts` and `publication-keys.ts` of `domain/transitions/`,
 * which fill it, into `publication-store.ts`, which indexes and reads it, and into a new version of
 * `migrate.ts`, which gives it to the rows there are.
 */
export interface PublicationRow {
  tenantId: string;
  documentId: string;
  type: string;
  /**
   * Says whether there is a `document`, to processes of version 2. Written while the database is at
   * version 2 or 3, absent from version 4 on.
   */
  state?: "live" | "withdrawn";
  version: number;
  sequence: number;
  updatedAt: Date;
  /** The snapshot's bytes; absent on a tombstone. */
  document?: Binary;
  /**
   * Where `"links":[…],` stands in `document`, so that the six-member item is spliced without
   * parsing.
   */
  linksStart?: number;
  linksEnd?: number;
  slug?: string;
  /** Lowercase. */
  language?: string;
  /** Ids of linked tags. */
  tags?: string[];
  /** Ids and slugs of the sites it belongs to. */
  sites?: string[];
  /** Lowercase host names of a site. */
  hosts?: string[];
}

/**
 * A tombstone keeps no content.
 *
 * @param asVersion2 with the column that processes of version 2 read
 */
export function toPublicationRow(
  tenantId: string,
  { content, isFirst: _f, ...publication }: Publication,
  asVersion2 = false,
): PublicationRow {
  const state = (name: "live" | "withdrawn") => (asVersion2 ? { state: name } : {});
  if (!content) return { tenantId, ...publication, ...state("withdrawn") };
  const { bytes, tags, sites, hosts, ...rest } = content;
  return {
    tenantId,
    ...publication,
    ...state("live"),
    document: new Binary(bytes),
    ...rest,
    ...(tags ? { tags: [...tags] } : {}),
    ...(sites ? { sites: [...sites] } : {}),
    ...(hosts ? { hosts: [...hosts] } : {}),
  };
}

import { Binary } from "mongodb";
import type { PublicationKeys } from "../domain/published-reads/publication-keys.ts";
import type { Publication } from "../domain/transitions/changes.ts";

/** A column for each key that a document has a value of. */
type KeyColumns = { [Name in keyof PublicationKeys]?: NonNullable<PublicationKeys[Name]> };

/** `publications`: what readers see, one row a document, kept as a tombstone once withdrawn. */
export interface PublicationRow extends KeyColumns {
  tenantId: string;
  documentId: string;
  type: string;
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
}

/** A tombstone keeps no content. */
export function toPublicationRow(
  tenantId: string,
  { content, isFirst: _f, ...publication }: Publication,
): PublicationRow {
  if (!content) return { tenantId, ...publication };
  const { keys, bytes, linksStart, linksEnd } = content;
  return { tenantId, ...publication, document: new Binary(bytes), linksStart, linksEnd, ...toKeyColumns(keys) };
}

/** A key without a value has no column, or the partial indexes would hold the row. */
function toKeyColumns(keys: PublicationKeys): KeyColumns {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

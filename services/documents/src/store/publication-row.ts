import { Binary } from "mongodb";
import type { PublicationKeys } from "../domain/published-reads/publication-keys.ts";
import type { Publication } from "../domain/transitions/changes.ts";

type KeyColumns = { [Name in keyof PublicationKeys]?: NonNullable<PublicationKeys[Name]> };

/**
 * `publications`: what readers see. One row for each document that was published; a withdrawal
 * makes the row a tombstone.
 */
export interface PublicationRow extends KeyColumns {
  tenantId: string;
  documentId: string;
  type: string;
  version: number;
  sequence: number;
  updatedAt: Date;
  /** The snapshot's bytes; absent on a tombstone. */
  document?: Binary;
  /** Start of `"links":[…],` in `document`, so that the links can be cut out without parsing. */
  linksStart?: number;
  linksEnd?: number;
}

export function toPublicationRow(
  tenantId: string,
  { content, isFirst: _f, ...publication }: Publication,
): PublicationRow {
  if (!content) return { tenantId, ...publication };
  const { keys, bytes, linksStart, linksEnd } = content;
  return { tenantId, ...publication, document: new Binary(bytes), linksStart, linksEnd, ...toKeyColumns(keys) };
}

/** A key without a value has no column; otherwise the partial indexes would contain the row. */
function toKeyColumns(keys: PublicationKeys): KeyColumns {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

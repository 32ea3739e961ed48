import { Binary } from "mongodb";
import type { HistoryEntry, Publication, Slug, Snapshot, StoredVersion } from "../domain/publication/publication.ts";
import type { HistoryRow, PublicationRow, SlugRow, SnapshotRow, VersionRow } from "./rows.ts";

/** A tombstone keeps no content. */
export function toPublicationRow(tenantId: string, { live, ...publication }: Publication): PublicationRow {
  if (!live) return { tenantId, ...publication, state: "withdrawn" };
  const { bytes, tags, sites, hosts, ...rest } = live;
  return {
    tenantId,
    ...publication,
    state: "live",
    document: new Binary(bytes),
    ...rest,
    ...(tags ? { tags: [...tags] } : {}),
    ...(sites ? { sites: [...sites] } : {}),
    ...(hosts ? { hosts: [...hosts] } : {}),
  };
}

export function toSnapshotRow(tenantId: string, snapshot: Snapshot): SnapshotRow {
  const { updatedAt, bytes, sha256, ...rest } = snapshot;
  const kept = { bytes: new Binary(bytes), sha256: new Binary(sha256) };
  return { tenantId, ...rest, committedAt: updatedAt, ...kept, pending: true };
}

export function toHistoryRow(tenantId: string, entry: HistoryEntry): HistoryRow {
  return { tenantId, ...entry, by: { ...entry.by } };
}

export function fromSlugRow({ type, slug, documentId, current }: SlugRow): Slug {
  return { type, slug, documentId, current };
}

export function fromVersionRow(row: VersionRow): StoredVersion {
  const { documentId, version, schemaGeneration, createdBy } = row;
  return {
    documentId,
    version,
    schemaGeneration,
    createdBy,
    content: row.content.value(),
    links: row.links.value(),
    meta: row.meta.value(),
    title: row.title.value(),
  };
}

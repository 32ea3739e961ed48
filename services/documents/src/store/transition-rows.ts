import { Binary } from "mongodb";
import type { TransitionEntry, Snapshot, StoredVersion } from "../domain/transitions/changes.ts";
import type { HistoryRow, SnapshotRow, VersionRow } from "./rows.ts";

export function toSnapshotRow(tenantId: string, snapshot: Snapshot): SnapshotRow {
  const { updatedAt, bytes, sha256, ...rest } = snapshot;
  const kept = { bytes: new Binary(bytes), sha256: new Binary(sha256) };
  return { tenantId, ...rest, committedAt: updatedAt, ...kept, pending: true };
}

export function toTransitionRow(tenantId: string, entry: TransitionEntry): HistoryRow {
  return { tenantId, ...entry, by: { ...entry.by } };
}

/**
 * An update has no transition; "" is no transition's name, so no request of a transition matches
 * its entry.
 */
export function fromTransitionRow({
  documentId,
  at,
  by,
  transition = "",
  version,
  ...row
}: HistoryRow): TransitionEntry {
  const { from, to, request } = row;
  const entry = { documentId, at, by, transition, version, from, to };
  if (request?.type === undefined) return entry;
  const { token, type, sequence = 0, updatedAt } = request;
  return { ...entry, request: { token, type, sequence, ...(updatedAt ? { updatedAt } : {}) } };
}

export function fromStoredVersionRow(row: VersionRow): StoredVersion {
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

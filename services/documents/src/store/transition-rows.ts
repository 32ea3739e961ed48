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
 * The entry of an update gets the transition "". No transition has that name, so the entry answers
 * no repeated request for a transition.
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

import { titleText } from "../domain/document/title-text.ts";
import type { DocumentVersion, VersionSummary } from "../domain/document/revision.ts";
import { fromPartsRow } from "./head-row.ts";
import type { HeadRow, VersionRow } from "./rows.ts";

/** The row in `versions` that keeps the head's version once an edit replaces it. */
export function toVersionRow(head: HeadRow): VersionRow {
  const { tenantId, documentId, version, status, schemaGeneration, content, links, meta, title, titleRich } = head;
  const parts = { content, links, meta, title, ...(titleRich ? { titleRich } : {}) };
  const createdAt = head.writtenAt ?? head.createdAt;
  return { tenantId, documentId, version, status, schemaGeneration, ...parts, createdAt, createdBy: head.changedBy };
}

export function fromVersionRow(row: VersionRow): DocumentVersion {
  const { version, status, schemaGeneration, createdAt, createdBy } = row;
  return { version, status, schemaGeneration, ...fromPartsRow(row), writtenAt: createdAt, writtenBy: createdBy };
}

export type VersionSummaryRow = Pick<
  VersionRow,
  "version" | "status" | "title" | "schemaGeneration" | "createdAt" | "createdBy"
>;

export function fromVersionSummaryRow({ createdAt, createdBy, title, ...row }: VersionSummaryRow): VersionSummary {
  return { ...row, title: titleText(title.value()), writtenAt: createdAt, writtenBy: createdBy };
}

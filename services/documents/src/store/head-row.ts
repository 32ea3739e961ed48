import { Binary } from "mongodb";
import { type Head, initialStatus, type NewDocument } from "../domain/document/document.ts";
import type { HeadRow } from "./rows.ts";

/** A new document as the row it enters with: version 1, state draft. */
export function toHeadRow(document: NewDocument): HeadRow {
  const { content, links, meta, title, titleRich, intakeDigest, createdBy, ...rest } = document;
  return {
    ...rest,
    content: new Binary(content),
    links: new Binary(links),
    meta: new Binary(meta),
    title: new Binary(title),
    ...(titleRich ? { titleRich: new Binary(titleRich) } : {}),
    intakeDigest: new Binary(intakeDigest),
    createdBy: { ...createdBy },
    version: 1,
    status: initialStatus,
    changedAt: document.createdAt,
    changedBy: { ...createdBy },
  };
}

/** A row as the head it keeps. */
export function fromHeadRow(row: HeadRow): Head {
  const { content, links, meta, title, titleRich, intakeDigest, ...rest } = row;
  return {
    ...rest,
    content: content.value(),
    links: links.value(),
    meta: meta.value(),
    title: title.value(),
    ...(titleRich ? { titleRich: titleRich.value() } : {}),
    intakeDigest: intakeDigest.value(),
  };
}

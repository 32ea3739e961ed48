import { Binary } from "mongodb";
import { type DocumentParts, type Head, initialStatus, type NewDocument } from "../domain/document/document.ts";
import type { HeadRow, PartsRow } from "./rows.ts";

export function toHeadRow(document: NewDocument): HeadRow {
  const { content: _c, links: _l, meta: _m, title: _t, titleRich: _r, intakeDigest, createdBy, ...rest } = document;
  return {
    ...rest,
    ...toPartsRow(document),
    intakeDigest: new Binary(intakeDigest),
    createdBy: { ...createdBy },
    version: 1,
    status: initialStatus,
    changedAt: document.createdAt,
    changedBy: { ...createdBy },
  };
}

export function fromHeadRow(row: HeadRow): Head {
  const { content: _c, links: _l, meta: _m, title: _t, titleRich: _r, intakeDigest, ...columns } = row;
  return { ...columns, ...fromPartsRow(row), intakeDigest: intakeDigest.value() };
}

export function toPartsRow({ content, links, meta, title, titleRich }: DocumentParts): PartsRow {
  return {
    content: new Binary(content),
    links: new Binary(links),
    meta: new Binary(meta),
    title: new Binary(title),
    ...(titleRich ? { titleRich: new Binary(titleRich) } : {}),
  };
}

export function fromPartsRow({ content, links, meta, title, titleRich }: PartsRow): DocumentParts {
  return {
    content: content.value(),
    links: links.value(),
    meta: meta.value(),
    title: title.value(),
    ...(titleRich ? { titleRich: titleRich.value() } : {}),
  };
}

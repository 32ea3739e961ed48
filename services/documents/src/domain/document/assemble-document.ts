import type { Violation } from "@vidimus/kit/errors";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";
import type { DocumentParts } from "./document.ts";

/** Members that the platform adds to a document. */
interface Stamp {
  documentId: string;
  type: string;
  status: string;
  version: number;
  /** Absent in documents for editors. */
  updatedAt?: Date;
  /** Sets `meta.final`. */
  isFinal?: boolean;
}

/**
 * A document as one canonical object, and the range of `"links":[…],` in it, so that the links can
 * be cut out.
 */
export interface AssembledDocument {
  bytes: Buffer;
  linksStart: number;
  linksEnd: number;
}

/**
 * Joins parts to the canonical object `{content,id,links,meta,title,type}` (and `updated_at`, when
 * stamped). Only `meta` is parsed, to stamp `status`, `version` and perhaps `final` into it.
 */
export function assembleDocument(parts: DocumentParts, stamp: Stamp): AssembledDocument {
  const beforeLinks = Buffer.from(`,"id":"${stamp.documentId}",`);
  const updatedAt = stamp.updatedAt ? `,"updated_at":"${stamp.updatedAt.toISOString()}"` : "";
  const bytes = Buffer.concat([
    Buffer.from('{"content":'),
    parts.content,
    beforeLinks,
    Buffer.from('"links":'),
    parts.links,
    Buffer.from(',"meta":'),
    stampMeta(parts.meta, stamp),
    Buffer.from(',"title":'),
    parts.title,
    Buffer.from(`,"type":${JSON.stringify(stamp.type)}${updatedAt}}`),
  ]);
  const linksStart = '{"content":'.length + parts.content.byteLength + beforeLinks.byteLength;
  return { bytes, linksStart, linksEnd: linksStart + '"links":'.length + parts.links.byteLength + 1 };
}

/**
 * The document as editors read it: with the title as it was sent, so that sending the document back
 * changes nothing.
 */
export function assembleForEditors(parts: DocumentParts, stamp: Stamp): Buffer {
  return assembleDocument({ ...parts, title: parts.titleRich ?? parts.title }, stamp).bytes;
}

function stampMeta(meta: Uint8Array, { status, version, isFinal }: Stamp): Buffer {
  return canonicalJson({ ...parseObject(meta), status, version, ...(isFinal ? { final: true } : {}) });
}

export interface DocumentValue {
  title: JsonValue;
  meta: JsonValue;
  content: JsonValue;
  links: JsonValue;
}

export interface CheckableDocument {
  readonly parts: DocumentParts;
  /** `parts`, parsed; when absent, the check parses them. */
  readonly value?: DocumentValue;
  /** Violations of the built-in shape of its type; absent when they are not known. */
  readonly builtInFaults?: readonly Violation[];
}

/**
 * Parses the parts of a draft or a stored document. `readMembers` wrote them as canonical JSON, so
 * they are not checked again.
 */
export function parseParts(parts: DocumentParts): DocumentValue {
  return {
    title: parsePart(parts.title),
    meta: parsePart(parts.meta),
    content: parsePart(parts.content),
    links: parsePart(parts.links),
  };
}

function parseObject(bytes: Uint8Array): JsonObject {
  const value = parsePart(bytes);
  if (!isJsonObject(value)) throw new TypeError("stored meta is not an object");
  return value;
}

export function parsePart(bytes: Uint8Array): JsonValue {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
}

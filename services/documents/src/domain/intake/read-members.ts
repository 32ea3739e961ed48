import type { Violation } from "@vidimus/kit/errors";
import { hash } from "node:crypto";
import type { CheckableDocument, DocumentValue } from "../document/assemble-document.ts";
import { type DocumentParts, platformMetaKeys } from "../document/document.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, jsonPointer, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { flattenTitle } from "./flatten-title.ts";

export interface ReadDocument extends CheckableDocument {
  readonly type: string;
  /** SHA-256, see `digestParts`. */
  readonly digest: Uint8Array;
}

/** A read document, or its violations with pointers relative to the members. */
type MembersReading = { document: ReadDocument } | { violations: Violation[] };

const lf = Buffer.from("\n");

const knownMembers: ReadonlySet<string> = new Set(["type", "title", "meta", "content", "links"]);

/** Reads the members that every type of document has. Does not check them against the type. */
export function readMembers(members: JsonObject): MembersReading {
  const violations: Violation[] = [];
  const refuse = (member: string, message: string) => violations.push({ pointer: jsonPointer([member]), message });
  for (const name of Object.keys(members)) {
    if (!knownMembers.has(name)) refuse(name, `"${name}" is not a member of a document`);
  }
  const { type, title, meta = {}, content = {}, links = [] } = members;
  if (typeof type !== "string") refuse("type", type === undefined ? "type is required" : "type must be a string");
  const plain = readTitle(title, refuse);
  if (!isJsonObject(meta)) refuse("meta", "meta must be an object");
  if (!isJsonObject(content)) refuse("content", "content must be an object");
  if (!Array.isArray(links)) refuse("links", "links must be an array");
  if (violations.length > 0 || typeof type !== "string" || plain === undefined || !isJsonObject(meta)) {
    return { violations };
  }
  const value = { title: plain, meta: callersMeta(meta), content, links };
  const parts = toParts(value, isJsonObject(title) ? title : undefined);
  return { document: { type, value, parts, digest: digestParts(type, parts) } };
}

function readTitle(
  title: JsonValue | undefined,
  refuse: (member: string, message: string) => void,
): string | undefined {
  if (title === undefined) {
    refuse("title", "title is required");
    return undefined;
  }
  const text = isJsonObject(title) ? flattenTitle(title) : title;
  if (typeof text === "string" && text.trim() !== "") return text;
  refuse("title", "title must be a string or a rich text document, with some text in it");
  return undefined;
}

function callersMeta(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !platformMetaKeys.has(key)));
}

function toParts(value: DocumentValue, rich: JsonObject | undefined): DocumentParts {
  return {
    content: canonicalJson(value.content),
    links: canonicalJson(value.links),
    meta: canonicalJson(value.meta),
    title: canonicalJson(value.title),
    ...(rich ? { titleRich: canonicalJson(rich) } : {}),
  };
}

/**
 * SHA-256 over a document's parts and type, one a line (canonical JSON contains no line feed).
 * The title is digested as it was sent, so a rich text title and its plain text have different
 * digests.
 */
export function digestParts(type: string, parts: DocumentParts): Buffer {
  const { content, links, meta, title, titleRich = title } = parts;
  return hash("sha256", Buffer.concat([content, lf, links, lf, meta, lf, titleRich, lf, Buffer.from(type)]), "buffer");
}

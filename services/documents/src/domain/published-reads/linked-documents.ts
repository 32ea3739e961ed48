import { parseUuid } from "@vidimus/kit/ids";
import { isJsonObject, type JsonValue } from "../json/json-value.ts";
import { isPublishableType } from "./publishable-types.ts";
import type { VisibleDocument } from "./published-document.ts";
import type { ReadAt } from "./tenant-clock.ts";

export interface LinkedReader {
  /** Those of the documents that are published, in any order, up to `bytesMax` bytes. */
  findVisible(
    tenantId: string,
    documentIds: readonly string[],
    bytesMax: number,
    at: ReadAt,
  ): Promise<VisibleDocument[]>;
}

/** A document's canonical bytes, and the range of `"links":[…],` in them. */
type LinkingDocument = Pick<VisibleDocument, "documentId" | "bytes" | "linksStart" | "linksEnd">;

/** Most bytes of linked documents in an answer. */
const bytesMax = 4 * 1024 * 1024;

/**
 * Reads the published documents to which `documents` link, in the order of the links, up to 4 MiB.
 * Leaves out those that are among `documents`, and those of types that readers may not see.
 *
 * @param linksMax most links that are read, whether or not their documents are published
 */
export async function readLinked(
  publications: LinkedReader,
  tenantId: string,
  documents: readonly LinkingDocument[],
  linksMax: number,
  at: ReadAt,
): Promise<VisibleDocument[]> {
  const own = new Set(documents.map(({ documentId }) => documentId));
  const linked = new Set(documents.flatMap(linkedIds).filter((id) => !own.has(id)));
  const ids = [...linked].slice(0, linksMax);
  if (ids.length === 0) return [];
  const found = await publications.findVisible(tenantId, ids, bytesMax, at);
  const positions = new Map(ids.map((id, index) => [id, index]));
  return found
    .filter(({ type }) => isPublishableType(type))
    .toSorted((a, b) => (positions.get(a.documentId) ?? 0) - (positions.get(b.documentId) ?? 0));
}

function linkedIds({ bytes, linksStart, linksEnd }: LinkingDocument): string[] {
  const text = Buffer.from(bytes.subarray(linksStart, linksEnd - 1)).toString();
  const value: JsonValue = JSON.parse(`{${text}}`);
  const links = isJsonObject(value) && Array.isArray(value["links"]) ? value["links"] : [];
  return links.flatMap((link) =>
    isJsonObject(link) && typeof link["id"] === "string" ? (parseUuid(link["id"]) ?? []) : [],
  );
}

/** Joins documents to one JSON object, from id to document. */
export function joinMembers(documents: readonly VisibleDocument[]): Buffer {
  const members = documents.flatMap(({ documentId, bytes }, index) => [
    Buffer.from(`${index === 0 ? "" : ","}"${documentId}":`),
    bytes,
  ]);
  return Buffer.concat([Buffer.from("{"), ...members, Buffer.from("}")]);
}

import { expect } from "vitest";
import { as, type Newsroom } from "./newsroom.ts";

interface HeadJson {
  id: string;
  type: string;
  title: string;
  meta: { status: string; version: number; [key: string]: unknown };
  content: Record<string, unknown>;
  links: unknown[];
}

/** A document as the documents service answers it, and its newest version as JSON. */
export async function stored(room: Newsroom, documentId: string) {
  const { document } = await room.documents.getDocument({ tenantId: room.tenantId, documentId }, as("editor"));
  if (!document) throw new Error(`${documentId} is not stored`);
  return { document, head: JSON.parse(Buffer.from(document.documentJson).toString()) as HeadJson };
}

/** Ids of a tenant's documents, published or not, at most 200. */
export async function storedIds(room: Newsroom): Promise<string[]> {
  const { documents } = await room.documents.listDocuments({ tenantId: room.tenantId, limit: 200 }, as("editor"));
  return documents.map(({ documentId }) => documentId);
}

/**
 * Applies a transition to version 1 of documents, 64 a call, in the given order; all must succeed.
 */
export async function transitionAll(room: Newsroom, documentIds: readonly string[], name: string): Promise<void> {
  for (let at = 0; at < documentIds.length; at += 64) {
    const transitions = documentIds.slice(at, at + 64).map((documentId) => ({ documentId, name, expectedVersion: 1n }));
    const { results } = await room.documents.batchTransitionDocuments(
      { tenantId: room.tenantId, transitions },
      as("editor"),
    );
    expect(results.filter(({ outcome }) => outcome.case !== "transitioned")).toEqual([]);
  }
}

import { createHash } from "node:crypto";
import { assembleDocument, type AssembledDocument } from "../document/assemble-document.ts";
import type { DocumentParts } from "../document/document.ts";

interface SnapshotStamp {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly status: "usable" | "withheld";
  /** Tick of the tenant's clock. */
  readonly updatedAt: Date;
  /** Whether the document can have no later snapshot; `meta.final` is then true. */
  readonly isFinal: boolean;
}

interface SealedSnapshot extends AssembledDocument {
  readonly sha256: Uint8Array;
}

/**
 * The canonical bytes `{content,id,links,meta,title,type,updated_at}` of a snapshot, and their
 * SHA-256, which the signed statement contains.
 */
export function sealSnapshot(parts: DocumentParts, stamp: SnapshotStamp): SealedSnapshot {
  const assembled = assembleDocument(parts, { ...stamp });
  return { ...assembled, sha256: createHash("sha256").update(assembled.bytes).digest() };
}

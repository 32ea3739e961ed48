import type { Actor, DocumentParts } from "./document.ts";

/** What the next version of a document is made of. */
export interface Revision extends DocumentParts {
  readonly schemaGeneration: number;
  readonly writtenAt: Date;
  readonly writtenBy: Actor;
}

/** One version of a document, without its content. */
export interface VersionSummary {
  readonly version: number;
  readonly status: string;
  /** Plain text. */
  readonly title: string;
  readonly schemaGeneration: number;
  readonly writtenAt: Date;
  readonly writtenBy: Actor;
}

/** One version of a document. */
export interface DocumentVersion extends Revision {
  readonly version: number;
  readonly status: string;
}

/** One thing that was done to a document after its intake. */
export interface HistoryEntry {
  readonly at: Date;
  readonly by: Actor;
  /** Absent for a change of content. */
  readonly transition?: string;
  readonly version: number;
  readonly from: string;
  readonly to: string;
}

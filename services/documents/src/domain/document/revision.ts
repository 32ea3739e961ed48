import type { Actor, DocumentParts } from "./document.ts";

/** What an edit writes as the next version of a document. */
export interface Revision extends DocumentParts {
  readonly schemaGeneration: number;
  readonly writtenAt: Date;
  readonly writtenBy: Actor;
}

export interface VersionSummary {
  readonly version: number;
  readonly status: string;
  /** Plain text. */
  readonly title: string;
  readonly schemaGeneration: number;
  readonly writtenAt: Date;
  readonly writtenBy: Actor;
}

export interface DocumentVersion extends Revision {
  readonly version: number;
  readonly status: string;
}

/** One change of a document. `from` is "" for the intake. */
export interface HistoryEntry {
  readonly at: Date;
  readonly by: Actor;
  /** Absent for the intake and for a change of content. */
  readonly transition?: string;
  readonly version: number;
  readonly from: string;
  readonly to: string;
}

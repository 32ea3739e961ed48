import type { Actor, DocumentParts, LastPublished } from "../document/document.ts";
import type { PublicationKeys } from "../published-reads/publication-keys.ts";

/** The row that readers get for a document: its content, or a tombstone. */
export interface Publication {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly sequence: number;
  readonly updatedAt: Date;
  /** Whether the document was never published, so that it has no row yet. */
  readonly isFirst: boolean;
  /** Absent on a tombstone. */
  readonly content?: {
    readonly keys: PublicationKeys;
    readonly bytes: Uint8Array;
    readonly linksStart: number;
    readonly linksEnd: number;
  };
}

export interface Snapshot {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly sequence: number;
  readonly status: "usable" | "withheld";
  readonly updatedAt: Date;
  readonly bytes: Uint8Array;
  readonly sha256: Uint8Array;
  /** W3C Trace Context of the call that made the snapshot; absent unless its trace is recorded. */
  readonly traceparent?: string;
}

/** A slug, and the document that has it or had it last. */
export interface Slug {
  readonly type: string;
  readonly slug: string;
  readonly documentId: string;
}

/** A version other than the head. */
export interface StoredVersion extends DocumentParts {
  readonly documentId: string;
  readonly version: number;
  readonly schemaGeneration: number;
  readonly createdBy: Actor;
}

export interface HeadChange {
  readonly documentId: string;
  readonly state: { readonly status: string; readonly changedAt: Date; readonly lastPublished?: LastPublished };
}

export interface TransitionEntry {
  readonly documentId: string;
  readonly at: Date;
  readonly by: Actor;
  readonly transition: string;
  readonly version: number;
  readonly from: string;
  readonly to: string;
  /**
   * Absent when the request had no token, in the entry of an update, and in the second entry of a
   * transition, that of the head.
   */
  readonly request?: AnsweredTransition;
}

/**
 * What a history entry keeps of the first answer to a request with a token. A repetition of the
 * request is answered from this and the entry.
 */
interface AnsweredTransition {
  readonly token: string;
  readonly type: string;
  readonly sequence: number;
  readonly updatedAt?: Date;
}

/** What one transaction writes besides the tenant's clock. */
export interface Changes {
  readonly heads: HeadChange[];
  readonly history: TransitionEntry[];
  readonly publications: Publication[];
  readonly snapshots: Snapshot[];
  /** Slugs that documents lose; readers find the document by them until another takes the slug. */
  retiredSlugs: readonly Slug[];
}

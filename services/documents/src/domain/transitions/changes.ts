import type { Actor, DocumentParts, LastPublished } from "../document/document.ts";
import type { PublicationKeys } from "../published-reads/publication-keys.ts";

/** The row that readers get for a document: its content, or a tombstone. */
export interface Publication {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly sequence: number;
  readonly updatedAt: Date;
  /** Whether the document was never published before, so that it has no row. */
  readonly isFirst: boolean;
  /** Absent on a tombstone. */
  readonly content?: {
    readonly keys: PublicationKeys;
    readonly bytes: Uint8Array;
    readonly linksStart: number;
    readonly linksEnd: number;
  };
}

/** A sealed copy of one version. */
export interface Snapshot {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly sequence: number;
  readonly status: "usable" | "withheld";
  readonly updatedAt: Date;
  readonly bytes: Uint8Array;
  readonly sha256: Uint8Array;
  /** W3C Trace Context of the call that made it, when its trace is recorded. */
  readonly traceparent?: string;
}

/** A slug, and the document that is published under it, or was. */
export interface Slug {
  readonly type: string;
  readonly slug: string;
  readonly documentId: string;
}

/** A version that is no longer the head. */
export interface StoredVersion extends DocumentParts {
  readonly documentId: string;
  readonly version: number;
  readonly schemaGeneration: number;
  readonly createdBy: Actor;
}

/** The state of a head after a transition. */
export interface HeadChange {
  readonly documentId: string;
  readonly state: { readonly status: string; readonly changedAt: Date; readonly lastPublished?: LastPublished };
}

/** One transition, as history keeps it. */
export interface TransitionEntry {
  readonly documentId: string;
  readonly at: Date;
  readonly by: Actor;
  readonly transition: string;
  readonly version: number;
  readonly from: string;
  readonly to: string;
  /** Absent when the caller did not name the request. */
  readonly request?: AnsweredTransition;
}

/** What a repetition of a named request is answered from, beside the entry of its transition. */
export interface AnsweredTransition {
  /** The name that the caller gave the request. */
  readonly token: string;
  /** Of the document. */
  readonly type: string;
  readonly sequence: number;
  readonly updatedAt?: Date;
}

/** Everything one transaction writes. */
export interface Changes {
  readonly heads: HeadChange[];
  readonly history: TransitionEntry[];
  readonly publications: Publication[];
  readonly snapshots: Snapshot[];
  /** Slugs that their documents are no longer published under; they still find them. */
  retiredSlugs: readonly Slug[];
}

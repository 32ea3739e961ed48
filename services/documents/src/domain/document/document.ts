/**
 * Who acts: the caller, or whom the gateway names for an item. `actor` and `role` are "" when the
 * call's metadata has none.
 */
export interface Actor {
  readonly actor: string;
  readonly role: string;
  /** Identity of the caller's certificate; absent when the caller had none. */
  readonly identity?: string;
}

/** The parts of a document's JSON, each canonical (RFC 8785) UTF-8. */
export interface DocumentParts {
  readonly content: Uint8Array;
  readonly links: Uint8Array;
  /** The caller's keys without those that the platform owns. */
  readonly meta: Uint8Array;
  /** A JSON string. */
  readonly title: Uint8Array;
  /** The title as it was sent, when it was not a plain string. */
  readonly titleRich?: Uint8Array;
}

/** The workflow version that a document gets on intake, and keeps. */
export interface WorkflowReference {
  readonly workflowId: string;
  readonly workflowVersion: number;
}

/** A document that was accepted and is not stored yet: version 1 in state draft. */
export interface NewDocument extends DocumentParts, WorkflowReference {
  readonly tenantId: string;
  readonly documentId: string;
  readonly type: string;
  readonly schemaGeneration: number;
  /** SHA-256, see `digestParts`. */
  readonly intakeDigest: Uint8Array;
  /** Token of the attempt; absent when an item of a batch or an import had none. */
  readonly intakeToken?: string;
  readonly createdAt: Date;
  readonly createdBy: Actor;
}

/** The version of a document that is published, or was before it was withdrawn. */
export interface LastPublished {
  readonly version: number;
  readonly status: string;
  readonly sequence: number;
  readonly updatedAt: Date;
  /** The slug of the publication; absent when the publication has no slug or is withdrawn. */
  readonly slug?: string;
}

/** The newest version of a document and its state. */
export interface Head extends NewDocument {
  readonly version: number;
  readonly status: string;
  readonly changedAt: Date;
  /** The actor who wrote the newest version. */
  readonly changedBy: Actor;
  /** When the newest version was written; absent on version 1, which was written at `createdAt`. */
  readonly writtenAt?: Date;
  /** Absent until the document is published. */
  readonly lastPublished?: LastPublished;
}

/** A head as lists show it. */
export interface HeadSummary {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly status: string;
  /** Plain text. */
  readonly title: string;
  readonly lastPublished?: LastPublished;
  readonly createdAt: Date;
  readonly changedAt: Date;
}

/** How a list of documents is ordered: by the last change or by creation, newest first. */
export type ListOrder = "changed" | "created";

export interface ListPosition {
  /** Time of the last change or of creation, depending on the list's order. */
  readonly at: Date;
  readonly documentId: string;
}

/** State of every document on intake, and of every new version. */
export const initialStatus = "draft";

/** Keys of `meta` that the platform owns; values that callers send for them are dropped. */
export const platformMetaKeys: ReadonlySet<string> = new Set([
  "status",
  "version",
  "workflowId",
  "workflowVersion",
  "final",
  "cause",
]);

/** The caller, from the metadata of the call; "" for what it does not say. */
export interface Actor {
  readonly actor: string;
  readonly role: string;
  /** Identity of the caller's certificate; absent when it had none. */
  readonly identity?: string;
}

/** The parts of a document's JSON, each canonical (RFC 8785) UTF-8. */
export interface DocumentParts {
  readonly content: Uint8Array;
  readonly links: Uint8Array;
  /** The caller's keys only, never a platform-owned one. */
  readonly meta: Uint8Array;
  /** A JSON string. */
  readonly title: Uint8Array;
  /** The rich original of `title`, when it was not a plain string. */
  readonly titleRich?: Uint8Array;
}

/** The version of a workflow that a document keeps for life. */
export interface WorkflowReference {
  readonly workflowId: string;
  readonly workflowVersion: number;
}

/** A document that has been accepted and not yet stored. It enters as version 1 in state draft. */
export interface NewDocument extends DocumentParts, WorkflowReference {
  readonly tenantId: string;
  readonly documentId: string;
  readonly type: string;
  readonly schemaGeneration: number;
  /** SHA-256, see `digestParts`. */
  readonly intakeDigest: Uint8Array;
  /** Names the attempt; absent when the caller named none. */
  readonly intakeToken?: string;
  readonly createdAt: Date;
  readonly createdBy: Actor;
}

/** The version of a document that is published, or was until it was withdrawn. */
export interface LastPublished {
  readonly version: number;
  readonly status: string;
  readonly sequence: number;
  readonly updatedAt: Date;
  /** The slug that it is published under; absent without one, and once it is withdrawn. */
  readonly slug?: string;
}

/** The newest version of a document and its state. */
export interface Head extends NewDocument {
  readonly version: number;
  readonly status: string;
  readonly changedAt: Date;
  /** The actor that wrote the newest version. */
  readonly changedBy: Actor;
  /** When the newest version was written; absent on version 1, which was written at `createdAt`. */
  readonly writtenAt?: Date;
  /** Absent while the document was never published. */
  readonly lastPublished?: LastPublished;
}

/** A head without its content. */
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

/** How a list of documents is ordered: by when they changed or were created, the last first. */
export type ListOrder = "changed" | "created";

/** A place in a list of documents. */
export interface ListPosition {
  /** When the document changed or was created, by the list's order. */
  readonly at: Date;
  readonly documentId: string;
}

/** State of every document on intake, and of every new version. */
export const initialStatus = "draft";

/** Meta keys the platform owns: what a caller sends under them is overwritten. */
export const platformMetaKeys: ReadonlySet<string> = new Set([
  "status",
  "version",
  "workflowId",
  "workflowVersion",
  "final",
  "cause",
]);

import type { Binary } from "mongodb";

/**
 * The four parts of a document's JSON, each canonical (RFC 8785) UTF-8. They are stored separately
 * so that a document is made by joining them: only `meta` is parsed again, to stamp status and
 * version into it.
 */
export interface PartsRow {
  content: Binary;
  links: Binary;
  /** The caller's keys without those of `platformMetaKeys`. */
  meta: Binary;
  /** A JSON string. */
  title: Binary;
  /** The canonical title as it was sent, when it was not a plain string. */
  titleRich?: Binary;
}

/** The caller, or whom the gateway names in an item's `created_by`. */
interface ActorRow {
  actor: string;
  role: string;
  /** Identity of the certificate; absent when the call had none. */
  identity?: string;
}

/**
 * `heads`: one row for each document, with its newest version and its state. Unique on (tenantId,
 * documentId).
 */
export interface HeadRow extends PartsRow {
  tenantId: string;
  documentId: string;
  type: string;
  version: number;
  status: string;
  workflowId: string;
  workflowVersion: number;
  /** Generation of the type's schema that the newest version was checked against. */
  schemaGeneration: number;
  /**
   * SHA-256 over the type and the parts as they were taken in (`digestParts`). A second create with
   * this id has the same content if it has the same digest, and its answer says so.
   */
  intakeDigest: Binary;
  intakeToken?: string;
  createdAt: Date;
  createdBy: ActorRow;
  /** When the head last changed, in content or in state. */
  changedAt: Date;
  /** Who wrote the newest version; the guard `fourEyes` compares with it. */
  changedBy: ActorRow;
  /** When the newest version was written; absent on version 1, which was written at `createdAt`. */
  writtenAt?: Date;
  /** Absent while the document was never published. */
  lastPublished?: LastPublishedRow;
}

/** The version that is published, or was before it was withdrawn. */
interface LastPublishedRow {
  version: number;
  status: string;
  /** Sequence of the newest snapshot; from 1, skips numbers only after a restore. */
  sequence: number;
  /** Tick of the tenant's clock. */
  updatedAt: Date;
  /**
   * The slug of the publication, as in `publications`, so that the next transition can retire it
   * without a read. Absent when the publication has no slug or is withdrawn.
   */
  slug?: string;
}

/**
 * `versions`: immutable versions other than the head. Unique on (tenantId, documentId, version).
 */
export interface VersionRow extends PartsRow {
  tenantId: string;
  documentId: string;
  version: number;
  /**
   * State of this version when the next one was written. The current state of the last published
   * version is in the head.
   */
  status: string;
  schemaGeneration: number;
  createdAt: Date;
  createdBy: ActorRow;
}

/** `history`: one row for each change after intake. */
export interface HistoryRow {
  tenantId: string;
  documentId: string;
  at: Date;
  by: ActorRow;
  /** Name of the transition; absent for a change of content. */
  transition?: string;
  version: number;
  from: string;
  to: string;
  /** What a repetition of the request is answered from; absent when the request had no token. */
  request?: RequestRow;
}

/**
 * The request that made a row of history. Its token is unique in the document, so the same request
 * cannot be committed twice.
 */
interface RequestRow {
  token: string;
  /** The document's type; set for a transition. */
  type?: string;
  /** Sequence of the snapshot that a transition made, 0 for none. */
  sequence?: number;
  updatedAt?: Date;
  /** For an update: the last published version at that time, if there was one. */
  lastPublished?: LastPublishedRow;
}

/**
 * `snapshots`: sealed copies, immutable except for `signature`, `pending` and `unsendable`, and for
 * `sequence` after a restore. Unique on (tenantId, documentId, sequence).
 */
export interface SnapshotRow {
  tenantId: string;
  documentId: string;
  sequence: number;
  version: number;
  type: string;
  status: "usable" | "withheld";
  committedAt: Date;
  bytes: Binary;
  sha256: Binary;
  signature?: { keyId: string; statement: string; value: Binary; signingNumber: number };
  /** Set until delivery has settled the snapshot. */
  pending?: true;
  /** W3C Trace Context of the call that made the snapshot; absent unless its trace is recorded. */
  traceparent?: string;
  /** Why the snapshot can never be sent. */
  unsendable?: string;
}

/**
 * `clocks`: one row for each tenant that has published. A transaction that changes what readers see
 * ticks before its other writes, which locks the row, so commits are in the order of `updated_at`.
 */
export interface ClockRow {
  tenantId: string;
  tick: Date;
  /** Last tick that touched each type, for ETags and for waiting readers. */
  types: Record<string, Date>;
  /** The process that took the last tick. */
  holder: string;
  /**
   * The process that took the tick before, if that tick was less than 250 ms earlier, else null.
   * A `rival` that is neither null nor `holder` means that two processes run transitions of the
   * tenant and must alternate.
   */
  rival: string | null;
}

/**
 * `slugs`: slugs that documents no longer have, with the document that had each last. A row may be
 * outdated: `publications` says who has a slug now. Unique on (tenantId, type, slug).
 */
export interface SlugRow {
  tenantId: string;
  type: string;
  slug: string;
  documentId: string;
}

/** `schemas`: generations of tenants' types, immutable. Unique on (tenantId, type, generation). */
export interface SchemaRow {
  tenantId: string;
  type: string;
  generation: number;
  /** JSON Schemas, canonical. */
  shape: Binary;
  complete: Binary;
  createdAt: Date;
  createdBy: string;
}

/**
 * `workflows`: versions of tenants' workflows, immutable. Unique on (tenantId, workflowId,
 * version).
 */
export interface WorkflowRow {
  tenantId: string;
  workflowId: string;
  version: number;
  /** Canonical JSON. */
  definition: Binary;
  createdAt: Date;
  createdBy: string;
}

/** `activations`: the workflow version of new documents of a type. Unique on (tenantId, type). */
export interface ActivationRow {
  tenantId: string;
  type: string;
  workflowId: string;
  version: number;
  at: Date;
  by: string;
}

import type { Binary } from "mongodb";

/** `endpoints`: one row per endpoint. Rows of the first build have only those that are required. */
export interface EndpointRow {
  /** The endpoint's id. */
  _id: string;
  tenantId: string;
  url: string;
  createdAt: Date;
  updatedAt?: Date;
  /** 32 bytes in the clear, of rows of the first build until the next start seals them. */
  secret?: Binary;
  /** One, or two after a rotation; newest first. */
  secrets?: SecretRow[];
  events?: string[];
  /** Absent: all types. */
  documentTypes?: string[];
  /** Names and values as JSON, sealed, because receivers ask for credentials in them. */
  headers?: Binary;
  maxInFlight?: number;
  ratePerSecond?: number;
  /** Present while it is disabled. */
  disabled?: { at: Date; reason: "operator" | "gone"; by?: string };
  /** Grows with every change. */
  revision?: number;
}

/** A secret, sealed by `secret-box.ts`. */
export interface SecretRow {
  sealed: Binary;
  /** The older of two secrets is used until then. */
  endsAt?: Date;
}

/**
 * `snapshots`: the payload of every snapshot that was ingested. A row is stored after the
 * snapshot's deliveries, so it proves that all of them are stored.
 */
export interface PayloadRow {
  /** The webhook id. */
  _id: string;
  tenantId: string;
  documentId: string;
  sequence: number;
  event: string;
  keyId: string;
  body: Binary;
  storedAt: Date;
}

/**
 * `deliveries`: one row per snapshot and endpoint. Unique on (tenantId, endpointId, documentId,
 * sequence).
 */
export interface DeliveryRow {
  /** The delivery's id. */
  _id: string;
  tenantId: string;
  endpointId: string;
  documentId: string;
  sequence: number;
  webhookId: string;
  /** `pending`: to be attempted, with or without a lease. The other states are final. */
  state: "pending" | "delivered" | "exhausted";
  /**
   * Grows with every claim and every result. Writes match it, so a process that lost its lease
   * writes nothing.
   */
  generation: number;
  /**
   * Pending rows only: when the row may be claimed. Under a lease this is the lease's end, so that
   * the row of a dead process is claimed again.
   */
  nextAttemptAt?: Date;
  /** The time that the last answer's `Retry-After` named, if it had one. */
  notBefore?: Date;
  /** Present while a process holds the row. A unique index allows one per lane. */
  lease?: { holder: string; until: Date };
  attemptCount: number;
  /**
   * Attempts made before their backoff ended, because a newer snapshot arrived. Absent for none.
   */
  hurriedCount?: number;
  attempts: AttemptRow[];
  createdAt: Date;
  /** When it reached a final state. */
  endedAt?: Date;
}

/** One attempt. */
export interface AttemptRow {
  at: Date;
  tookMs: number;
  status?: number;
  failure?: string;
  answer?: string;
}

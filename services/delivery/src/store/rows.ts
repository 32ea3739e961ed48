import type { Binary } from "mongodb";

/** `endpoints`: receivers. */
export interface EndpointRow {
  /** The endpoint's id. */
  _id: string;
  tenantId: string;
  url: string;
  /** 32 bytes in the clear: every attempt is signed with them, so whoever may read this database may sign. */
  secret: Binary;
  createdAt: Date;
}

/** `snapshots`: the payload of every snapshot taken in. Stored after its deliveries: a row here says that they are all there. */
export interface SnapshotRow {
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

/** `deliveries`: one row for a snapshot and an endpoint. Unique on (tenantId, endpointId, documentId, sequence). */
export interface DeliveryRow {
  /** The delivery's id. */
  _id: string;
  tenantId: string;
  endpointId: string;
  documentId: string;
  sequence: number;
  webhookId: string;
  /** `pending` is owed, held by a process or not; the others are final. */
  state: "pending" | "delivered" | "exhausted";
  /** Goes up with every claim and every result, and no write goes through that names an older one. */
  generation: number;
  /** Of pending rows: when to claim it. While it is held, the end of the lease, so that a dead holder's row comes due by itself. */
  nextAttemptAt?: Date;
  /** Until when the receiver asked to be left alone, when its last answer did. */
  notBefore?: Date;
  /** Present while held. At most one row a lane has it: a unique index says so. */
  lease?: { holder: string; until: Date };
  attemptCount: number;
  /** Attempts that came before their time, because something newer had arrived; none unless said. */
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

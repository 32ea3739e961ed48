import type { Binary } from "mongodb";
import type { GateState } from "../domain/endpoint-gate.ts";
import type { EndpointNotice, NoticeFacts } from "../domain/notice.ts";
import type { Disablement } from "../domain/disablement.ts";
import type { SnapshotFacts } from "../domain/payload.ts";

/** `endpoints`: one row per endpoint. */
export interface EndpointRow {
  _id: string;
  tenantId: string;
  url: string;
  /** Name for people. When it is absent, the host of the URL is shown. */
  name?: string;
  /** Description for people; absent when empty. */
  description?: string;
  createdAt: Date;
  updatedAt: Date;
  /** Newest first; two after a rotation that lets the previous one be used for a while. */
  secrets: SecretRow[];
  events: string[];
  /** Absent when the endpoint gets documents of all types. */
  documentTypes?: string[];
  /** Names and values as JSON, sealed, because they may be credentials. */
  headers?: Binary;
  maxInFlight: number;
  ratePerSecond?: number;
  /** When it was last enabled after a disablement; absent when it never was. */
  enabledAt?: Date;
  /** Present while it is disabled. */
  disabled?: Disablement;
  /** Notices that are not announced yet; absent when there are none. */
  notices?: EndpointNotice[];
  /** Raised by every change. */
  revision: number;
}

/** A secret, sealed by `secret-box.ts`. */
export interface SecretRow {
  sealed: Binary;
  /** The older of two secrets is used until this time. */
  endsAt?: Date;
}

/**
 * `deliveries`: one row for each endpoint and webhook. The id is a hash of the endpoint and of the
 * webhook id that the row was stored with, so it is unique on endpoint, document, sequence and
 * signing number. `webhookId` is another one once the row was sent with a newer signature.
 *
 * The undelivered rows of a document and an endpoint are a lane. One of them is its bearer: it
 * alone has `nextAttemptAt`, the lane's lease and everything else that is journaled of the lane. A
 * unique index refuses a second bearer. Between the end of a bearer and the appointment of the next
 * one, a lane has none.
 */
export interface DeliveryRow {
  _id: string;
  tenantId: string;
  endpointId: string;
  /** For a notice: the id of the endpoint that the notice is about. */
  documentId: string;
  /** For a notice: the notice's time, in milliseconds since 1970. */
  sequence: number;
  signingNumber: number;
  webhookId: string;
  /** Facts of a snapshot's webhook, for the log. The body is not stored. */
  snapshot?: SnapshotFacts;
  notice?: NoticeFacts;
  /** Length of the webhook's body, in bytes, at most a kilobyte too high. */
  bodyBytes: number;
  /**
   * `pending`: to be attempted while the endpoint is enabled. The others are final. `superseded`: a
   * newer snapshot of the document was accepted, or is excluded by the endpoint's filter, or was
   * stored before this one could be sent again after a revocation.
   */
  state: "pending" | "delivered" | "superseded" | "exhausted";
  /**
   * Raised, for example, by every claim, release and journaled result of the bearer. A process that
   * records an attempt, renews its lease or releases it names the generation that it has read. So
   * after another claim it leaves the bearer alone, unless it records a 2xx (`noteAccepted`).
   */
  generation: number;
  /**
   * Bearer only: when the lane's next attempt is due. Under a lease it is the lease's end, so that
   * the lane of a dead process is claimed again.
   */
  nextAttemptAt?: Date;
  /**
   * Bearer only: until `until`, no process but `holder` may attempt the lane. Each claim, and each
   * record of an attempt that keeps the lease, writes a new token. By the token a process tells its
   * own record from a later claim of its own.
   */
  lease?: { holder: string; until: Date; token?: string };
  /** Bearer only: the delivery to which all older ones of the lane have yielded. */
  yieldedTo?: string;
  /** Bearer only: the lane was expedited before its backoff ended. */
  isExpedited?: true;
  /**
   * Bearer only: since the lease was taken, newer rows may have been stored that the lease's holder
   * does not know.
   */
  isFollowed?: true;
  attemptCount: number;
  /** How many steps of the backoff the row has taken. Not every failure takes one. */
  retryCount: number;
  /** Set once the endpoint has refused the webhook. */
  isRefused?: true;
  /** Id of the last replay or redelivery that has ended its attempts at the delivery. */
  endedReplayId?: string;
  /** The last 50 attempts. */
  attempts: AttemptRow[];
  createdAt: Date;
  /** When the row reached a final state, or a receiver last accepted it after that. */
  endedAt?: Date;
  /** Final rows only: when MongoDB deletes the row. */
  expiresAt?: Date;
}

export interface AttemptRow {
  at: Date;
  tookMs: number;
  status?: number;
  failure?: string;
  /** The failure in words. */
  detail?: string;
  answer?: string;
  /** Id of the replay or redelivery that made the attempt. */
  replayId?: string;
  /** Replays and redeliveries only: the value of the webhook's header `vidimus-attempt`. */
  number?: number;
  /**
   * Id of the attempt; absent when the row was the lane's bearer, and for a replay or redelivery. A
   * record that is repeated after an error finds the token, and does not add the attempt a second
   * time.
   */
  token?: string;
}

/** `endpoint_states`: the gate of an endpoint with an open breaker, a `Retry-After` or a 410. */
export interface EndpointStateRow {
  _id: string;
  tenantId: string;
  gate: GateState;
  /** Id of this write. A write names the id that was read, so it overwrites no later write. */
  generation: string;
  /** Set when a probe was requested since the state was stored. */
  isProbeWanted?: true;
  updatedAt: Date;
}

/** `replicas`: one row for each process of delivery that runs, or was killed within a day. */
export interface ReplicaRow {
  _id: string;
  /** By MongoDB's clock. */
  seenAt: Date;
  /** `host:port` of its ops port, if the port is a fixed one. */
  address?: string;
  /** Ids of the KEKs that the process has. */
  kekIds?: string[];
}

/** `replays`: one row per replay. */
export interface ReplayRow {
  _id: string;
  tenantId: string;
  endpointId: string;
  since?: Date;
  until: Date;
  states: ("delivered" | "superseded" | "exhausted" | "missing")[];
  latestOnly: boolean;
  documentTypes?: string[];
  state: "running" | "done" | "cancelled";
  /** Token of the current page of documents' snapshots. */
  pageToken: string;
  counts: { seen: number; delivered: number; failed: number; skipped: number };
  /**
   * Turns in which the receiver could not be reached, since a turn completed its page or found the
   * endpoint disabled.
   */
  failedTurns: number;
  /** Commit time of the last snapshot of the completed pages. */
  reached?: Date;
  createdAt: Date;
  endedAt?: Date;
  /** Id of the claim of the process that does the work, until `leaseUntil`. */
  holder?: string;
  leaseUntil: Date;
  /** Ended replays only: when MongoDB deletes the row. */
  expiresAt?: Date;
}

/** `trust_list`: one row, the newest trust list that any process of delivery has read. */
export interface TrustListRow {
  _id: "trust_list";
  /** Revision of signing's key ring; each change of the trust list raises it. */
  revision: number;
  keyIds: string[];
  /** Ids of the keys of this list and of all that were stored before it. */
  everListed: string[];
}

/** `resigning`: one row, the work after the revocation of a key. */
export interface ResigningRow {
  _id: "resigning";
  /** Revoked keys for which the work is done. */
  doneKeyIds: string[];
  /** Whether the work was ever completed. */
  hasFinished?: true;
  /** Present from the beginning of a run until it is finished. */
  run?: ResigningRun;
  /** Id of the claim of the process that does the work, until `leaseUntil`. */
  holder?: string;
  leaseUntil: Date;
}

/** How far the work that follows a revocation has come. */
export interface ResigningRun {
  /**
   * The revoked keys of this run. Empty in a run that follows no revocation which delivery has
   * seen: the first one of a database, or one that only sends what is in `resends`.
   */
  keyIds: string[];
  /** When the last revocation of this run was noticed; 1970 when `keyIds` is empty. */
  since: Date;
  /** `walk`: signatures are replaced. `send`: snapshots of `resends` are sent again. */
  phase: "walk" | "send";
  /** When the current pass over all signatures began. */
  passAt: Date;
  /** Token of the current page of documents' signatures. */
  pageToken: string;
  /** How many signatures were replaced. */
  replaced: number;
}

/** `resends`: a snapshot that was signed again; it is sent again if it is its document's newest. */
export interface ResendRow {
  /** Tenant id and document id, separated by a space. */
  _id: string;
  tenantId: string;
  documentId: string;
  sequence: number;
  /** Not sent before this time, because an attempt with the old signature may be in flight. */
  dueAt: Date;
}

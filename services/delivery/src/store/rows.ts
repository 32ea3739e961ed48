import type { Binary } from "mongodb";
import type { GateState } from "../domain/endpoint-gate.ts";
import type { EndpointNotice, NoticeFacts } from "../domain/endpoint-notice.ts";
import type { Disablement } from "../domain/endpoint.ts";
import type { SnapshotFacts } from "../domain/payload.ts";

/** `endpoints`: one row per endpoint. */
export interface EndpointRow {
  /** The endpoint's id. */
  _id: string;
  tenantId: string;
  url: string;
  /** For people; absent: the host of its URL. */
  name?: string;
  /** For people; absent: none. */
  description?: string;
  createdAt: Date;
  updatedAt: Date;
  /** One, or two after a rotation; newest first. */
  secrets: SecretRow[];
  events: string[];
  /** Absent: all types. */
  documentTypes?: string[];
  /** Names and values as JSON, sealed, because receivers ask for credentials in them. */
  headers?: Binary;
  maxInFlight: number;
  ratePerSecond?: number;
  /** When it was last enabled; absent when it never was disabled. */
  enabledAt?: Date;
  /** Present while it is disabled. */
  disabled?: Disablement;
  /** Changes that are not announced yet; absent when there are none. */
  notices?: EndpointNotice[];
  /** Grows with every change. */
  revision: number;
}

/** A secret, sealed by `secret-box.ts`. */
export interface SecretRow {
  sealed: Binary;
  /** The older of two secrets is used until then. */
  endsAt?: Date;
}

/**
 * `deliveries`: one row per endpoint and webhook. The id is a hash of both, so it is unique on
 * endpoint, document, sequence and signing number.
 *
 * The undelivered rows of a document and an endpoint are a lane. Exactly one of them is its bearer:
 * it alone has `nextAttemptAt`, and with it the lane's lease and everything else that is journaled
 * of the lane. A unique index refuses a second one.
 */
export interface DeliveryRow {
  /** The delivery's id. */
  _id: string;
  tenantId: string;
  endpointId: string;
  /** Of a notice: the endpoint that it is about. */
  documentId: string;
  /** Of a notice: its time, in milliseconds since 1970. */
  sequence: number;
  signingNumber: number;
  webhookId: string;
  /** What a snapshot's webhook says, for the log. No body is stored. */
  snapshot?: SnapshotFacts;
  /** What a notice says. */
  notice?: NoticeFacts;
  /** Length of its body, in bytes, at most a kilobyte too high. */
  bodyBytes: number;
  /**
   * `pending`: to be attempted, once the endpoint is enabled. The others are final; `superseded` by a
   * newer one that was accepted, or that the endpoint's filter excludes.
   */
  state: "pending" | "delivered" | "superseded" | "exhausted";
  /**
   * Grows with every claim and every result of the bearer. Writes match it, so a process that lost
   * its lease writes nothing.
   */
  generation: number;
  /**
   * The bearer only: when the lane's next attempt is due. Under a lease this is the lease's end, so
   * that the lane of a dead process is claimed again.
   */
  nextAttemptAt?: Date;
  /**
   * The bearer only: present while a process may attempt the lane. The token names the claim, or the
   * attempt, that took it: a process tells its own record from its own later claim by it.
   */
  lease?: { holder: string; until: Date; token?: string };
  /** The bearer only: the delivery to which all older ones of the lane have yielded. */
  yieldedTo?: string;
  /** The bearer only: it was made due before its backoff ended. */
  isExpedited?: true;
  /** The bearer only: another process has stored a newer row since the lease was taken. */
  isFollowed?: true;
  attemptCount: number;
  /** Steps of the backoff that its failures have taken. */
  retryCount: number;
  /** The endpoint has refused it at least once. */
  isRefused?: true;
  /** The replay that has ended with it. */
  endedReplayId?: string;
  /** The last 50. */
  attempts: AttemptRow[];
  createdAt: Date;
  /** When it reached a final state. */
  endedAt?: Date;
  /** Final rows: when MongoDB deletes it. */
  expiresAt?: Date;
}

/** One attempt. */
export interface AttemptRow {
  at: Date;
  tookMs: number;
  status?: number;
  failure?: string;
  /** The failure in words. */
  detail?: string;
  answer?: string;
  /** The replay or redelivery that made it. */
  replayId?: string;
  /** Of what was sent again: its `vidimus-attempt`. */
  number?: number;
  /** Names the attempt, where its record has to be told from a repeated one. */
  token?: string;
}

/** `endpoint_states`: what an endpoint's answers have taught, while it is in any trouble. */
export interface EndpointStateRow {
  /** The endpoint's id. */
  _id: string;
  tenantId: string;
  gate: GateState;
  /** Names this write. The next one matches it, so a process that lost the endpoint writes nothing. */
  generation: string;
  /** Someone asked for a probe since the state was stored. */
  isProbeWanted?: true;
  updatedAt: Date;
}

/** `replicas`: one row per process of delivery that runs. */
export interface ReplicaRow {
  /** The process's id, which its leases name. */
  _id: string;
  /** By MongoDB's clock. */
  seenAt: Date;
  /** `host:port` of its ops door, if the port is a fixed one. */
  address?: string;
}

/** `replays`: one row per replay. */
export interface ReplayRow {
  /** The replay's id. */
  _id: string;
  tenantId: string;
  endpointId: string;
  since?: Date;
  until: Date;
  states: ("delivered" | "superseded" | "exhausted" | "missing")[];
  latestOnly: boolean;
  documentTypes?: string[];
  state: "running" | "done" | "cancelled";
  /** Token of the page of documents' snapshots that is worked on. */
  pageToken: string;
  counts: { seen: number; delivered: number; failed: number; skipped: number };
  /** Turns in which its receiver could not be reached, since the last one in which it could. */
  failedTurns: number;
  /** Commit time of the last snapshot of the pages that are done. */
  reached?: Date;
  createdAt: Date;
  endedAt?: Date;
  /** The claim of the process that works on it, until `leaseUntil`. */
  holder?: string;
  leaseUntil: Date;
  /** Ended ones: when MongoDB deletes it. */
  expiresAt?: Date;
}

/** `trust_list`: one row, the newest trust list that any process of delivery has read. */
export interface TrustListRow {
  _id: "trust_list";
  /** Of the key ring; greater after each change of the list. */
  revision: number;
  keyIds: string[];
  /** Every key that any of its revisions has listed, as far as delivery has read them. */
  everListed: string[];
}

/** `resigning`: one row, the work that follows the revocation of a key. */
export interface ResigningRow {
  _id: "resigning";
  /** Revoked keys whose signatures are replaced, and whose snapshots were sent again. */
  doneKeyIds: string[];
  /** Whether it was ever done to the end. */
  hasFinished?: true;
  /** Present while there is work. */
  run?: ResigningRun;
  /** The claim of the process that works on it, until `leaseUntil`. */
  holder?: string;
  leaseUntil: Date;
}

/** How far the work is. */
export interface ResigningRun {
  /** The revoked keys that it is for; none in the first run of a database. */
  keyIds: string[];
  /** When the revocation was noticed. */
  since: Date;
  /** `walk`: signatures are replaced. `send`: what `resends` has is sent again. */
  phase: "walk" | "send";
  /** When the pass over all signatures began that is under way. */
  passAt: Date;
  /** Token of the page of documents' signatures that is worked on. */
  pageToken: string;
  /** How many signatures were replaced. */
  replaced: number;
}

/** `resends`: a document one of whose snapshots was signed anew; it is sent again if it is the newest. */
export interface ResendRow {
  /** Tenant and document. */
  _id: string;
  tenantId: string;
  documentId: string;
  sequence: number;
  /** Not to be sent before: an attempt with the old signature may be under way. */
  dueAt: Date;
}

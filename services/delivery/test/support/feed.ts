import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import {
  type ListSnapshotsRequest,
  SnapshotFeedService,
} from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { startMeshServer } from "@vidimus/kit/rpc/doors/mesh/mesh-server";
import { partialRoute } from "@vidimus/kit/rpc/doors/shared/route";
import { route } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { createHash } from "node:crypto";
import { silentProcess } from "./scratch-log.ts";

export interface FeedSnapshot {
  tenantId: string;
  documentId: string;
  sequence: number;
  status: "usable" | "withheld";
  json: string;
  committedAt: Date;
  /** Digest of `json`, unless a test needs a wrong one. */
  sha256: Buffer;
  /** Traceparent of the call that made the snapshot; absent when its trace is not recorded. */
  traceparent?: string;
}

interface Ref {
  tenantId: string;
  documentId: string;
  sequence: bigint | number;
}

const documentKey = ({ tenantId, documentId }: Ref) => `${tenantId} ${documentId}`;
const keyOf = ({ tenantId, documentId, sequence }: Ref) => `${tenantId} ${documentId} ${sequence}`;

function openRows() {
  return {
    snapshots: new Map<string, FeedSnapshot>(),
    pending: new Map<string, FeedSnapshot>(),
    signatures: new Map<string, { keyId: string; statement: string; value: Uint8Array }>(),
    /** From document id to the reason for which its snapshot was settled as unsendable. */
    unsendable: new Map<string, string>(),
    held: new Map<string, { onCall: () => void; released: Promise<void> }>(),
    counts: { read: 0, types: 0 },
    /** From tenant id to the tenant's own types, which it has beside core/article and core/tag. */
    ownTypes: new Map<string, string[]>(),
  };
}

function schemaRoute({ counts, ownTypes }: ReturnType<typeof openRows>) {
  return partialRoute(SchemaService, {
    listSchemaGenerations: ({ tenantId }: { tenantId: string }) => {
      counts.types += 1;
      const types = ["core/article", "core/tag", ...(ownTypes.get(tenantId) ?? [])];
      return { schemaGenerations: types.map((type) => ({ type, generation: 0 })) };
    },
  });
}

function feedRoute({ snapshots, pending, signatures, unsendable, held, counts }: ReturnType<typeof openRows>) {
  const gate = async (method: string) => {
    held.get(method)?.onCall();
    await held.get(method)?.released;
  };
  return route(SnapshotFeedService, {
    listPendingSnapshots: async ({ limit, pageToken, committedBefore }) => {
      await gate("listPendingSnapshots");
      const before = committedBefore ? timestampDate(committedBefore) : new Date(8.64e15);
      const rows = [...pending.values()].filter(({ committedAt }) => committedAt <= before);
      const from = Number(pageToken || "0");
      const page = rows.slice(from, from + (limit || 500));
      const next = from + page.length;
      return { references: page.map(toReference), nextPageToken: next < rows.length ? String(next) : "" };
    },
    getSnapshots: async ({ references }) => {
      await gate("getSnapshots");
      counts.read += references.length;
      const found = references.flatMap((reference) => snapshots.get(keyOf(reference)) ?? []);
      return { snapshots: fitting(found).map((each) => withPending(each, pending)) };
    },
    settleSnapshots: async ({ settlements }) => {
      await gate("settleSnapshots");
      for (const { reference, outcome } of settlements) {
        if (!reference) continue;
        if (outcome.case === "signature") signatures.set(keyOf(reference), outcome.value);
        if (outcome.case === "unsendable") unsendable.set(reference.documentId, outcome.value);
        pending.delete(keyOf(reference));
      }
      return {};
    },
    listSnapshots: async (request) => {
      await gate("listSnapshots");
      return listStored([...snapshots.values()], request);
    },
  });
}

/** As many of the first snapshots as fit into an answer of 4 MiB, one at least. */
function fitting(found: readonly FeedSnapshot[]): readonly FeedSnapshot[] {
  let left = 4 * 1024 * 1024;
  const end = found.findIndex(({ json }, at) => (left -= json.length) < 0 && at > 0);
  return end === -1 ? found : found.slice(0, end);
}

/** `listSignatures` gives three on a page, in the order in which they were first settled. */
function auditRoute({ snapshots, pending, signatures, held }: ReturnType<typeof openRows>) {
  return route(SignatureAuditService, {
    listSignatures: async ({ pageToken }) => {
      held.get("listSignatures")?.onCall();
      await held.get("listSignatures")?.released;
      const signed = [...signatures].flatMap(([key, signature]) => {
        const snapshot = snapshots.get(key);
        return snapshot ? { reference: toReference(snapshot), signature } : [];
      });
      const from = Number(pageToken || "0");
      const page = signed.slice(from, from + 3);
      return { signatures: page, nextPageToken: from + 3 < signed.length ? String(from + 3) : "" };
    },
    getSignatures: ({ references }) => {
      const found = references.flatMap((reference) => snapshots.get(keyOf(reference)) ?? []);
      const asked = new Set(found.map(documentKey));
      const newest = new Map<string, number>();
      for (const each of snapshots.values()) {
        const key = documentKey(each);
        if (asked.has(key)) newest.set(key, Math.max(each.sequence, newest.get(key) ?? 0));
      }
      return {
        signatures: found.map((each) => {
          const held = { reference: toReference(each), newestSequence: BigInt(newest.get(documentKey(each)) ?? 0) };
          if (pending.has(keyOf(each))) return held;
          return Object.assign(held, { signature: signatures.get(keyOf(each)) ?? signatureOf(each) });
        }),
      };
    },
  });
}

/** The signature of a snapshot that was signed before the test. */
function signatureOf({ tenantId, documentId, sequence, status, committedAt, sha256 }: FeedSnapshot) {
  const facts = [tenantId, documentId, sequence, sequence + 3, status, committedAt.toISOString(), "k"];
  const statement = ["vidimus-snapshot-v1", ...facts, sha256.toString("hex")].join("\n");
  return { keyId: "k", statement, value: Buffer.alloc(64) };
}

function listStored(snapshots: readonly FeedSnapshot[], request: ListSnapshotsRequest) {
  const { tenantId, committedSince, committedUntil, latestOnly, limit, pageToken } = request;
  const since = committedSince ? timestampDate(committedSince) : new Date(0);
  const until = committedUntil ? timestampDate(committedUntil) : new Date(8.64e15);
  const own = snapshots.filter((each) => each.tenantId === tenantId).sort((a, b) => a.sequence - b.sequence);
  const newest = new Map(own.map((each) => [each.documentId, each]));
  const rows = (latestOnly ? [...newest.values()] : own)
    .filter(({ committedAt }) => committedAt >= since && committedAt < until)
    .sort((a, b) => a.committedAt.getTime() - b.committedAt.getTime() || a.sequence - b.sequence);
  const from = Number(pageToken || "0");
  const next = from + limit;
  const page = rows.slice(from, next).map((each) => {
    return { reference: toReference(each), committedAt: timestampFromDate(each.committedAt) };
  });
  return { snapshots: page, nextPageToken: next < rows.length ? String(next) : "" };
}

function withPending(snapshot: FeedSnapshot, pending: ReadonlyMap<string, FeedSnapshot>) {
  const { tenantId, documentId, sequence } = snapshot;
  const isPending = pending.has(keyOf(snapshot));
  const older = [...pending.values()]
    .filter((each) => each.tenantId === tenantId && each.documentId === documentId && each.sequence < sequence)
    .map((each) => each.sequence)
    .sort((a, b) => a - b);
  return Object.assign(toMessage(snapshot), { pending: isPending, olderPending: isPending ? older.map(BigInt) : [] });
}

/** The services of documents that delivery calls, with snapshots in memory, over real RPC. */
export async function openFeed() {
  const rows = openRows();
  const own = silentProcess("feed");
  const server = await startMeshServer({
    ...own,
    host: "127.0.0.1",
    port: 0,
    drainMs: 100,
    routes: [feedRoute(rows), auditRoute(rows), schemaRoute(rows)],
  });
  return {
    target: `127.0.0.1:${server.port}`,
    /** Lets a method hang until `release` is called; `reached` resolves at its first call. */
    hold(method: string) {
      const { promise: reached, resolve: onCall } = Promise.withResolvers<void>();
      const { promise: released, resolve } = Promise.withResolvers<void>();
      rows.held.set(method, { onCall, released });
      const release = () => {
        rows.held.delete(method);
        resolve();
      };
      return { reached, release };
    },
    /** Stores a snapshot that is settled. */
    store(snapshot: FeedSnapshot) {
      rows.snapshots.set(keyOf(snapshot), snapshot);
    },
    publish(snapshot: FeedSnapshot) {
      rows.snapshots.set(keyOf(snapshot), snapshot);
      rows.pending.set(keyOf(snapshot), snapshot);
    },
    signatures: rows.signatures,
    unsendable: rows.unsendable,
    /** How many references `GetSnapshots` was asked for, and how often the types were listed. */
    counts: rows.counts,
    ownTypes: rows.ownTypes,
    isPending: (reference: Ref) => rows.pending.has(keyOf(reference)),
    signatureOf: (reference: Ref) => rows.signatures.get(keyOf(reference)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export type Feed = Awaited<ReturnType<typeof openFeed>>;

export function snapshotOf(tenantId: string, documentId: string, sequence = 1): FeedSnapshot {
  const json = JSON.stringify({ content: { body: `Zürich ${sequence}` }, id: documentId, title: "A test" });
  const sha256 = createHash("sha256").update(json).digest();
  return { tenantId, documentId, sequence, status: "usable", json, committedAt: new Date(), sha256 };
}

function toReference({ tenantId, documentId, sequence }: FeedSnapshot) {
  return { tenantId, documentId, sequence: BigInt(sequence) };
}

function toMessage(snapshot: FeedSnapshot) {
  return {
    reference: toReference(snapshot),
    documentType: "core/article",
    version: BigInt(snapshot.sequence + 3),
    status: snapshot.status,
    committedAt: timestampFromDate(snapshot.committedAt),
    snapshotJson: Buffer.from(snapshot.json),
    sha256: snapshot.sha256,
    traceparent: snapshot.traceparent ?? "",
  };
}

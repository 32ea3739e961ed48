import { type CallOptions, type Client, Code, ConnectError } from "@connectrpc/connect";
import type {
  BatchCreateDocumentsResponse,
  DocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { freeBuffer } from "@vidimus/kit/tuning/free-buffer";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { DomainError } from "@vidimus/kit/errors";
import { shareCall } from "@vidimus/kit/rpc/context/call-span";
import { fromErrorInfo } from "@vidimus/kit/rpc/errors/error-table";
import { uuidv7 } from "@vidimus/kit/ids";
import { setTimeout as pause } from "node:timers/promises";
import { Counter, type Registry } from "prom-client";
import { actorOf } from "../access/acting.ts";
import type { Caller } from "../access/key-verifier.ts";

interface CreateItem {
  readonly caller: Caller;
  /** The unparsed body; emptied when its call has ended, unless it is part of a larger buffer. */
  readonly documentJson: Buffer;
  readonly rpc: CallOptions;
}

/**
 * Creates one document and returns its id. Rejects with the DomainError of documents, with
 * `deadline_exceeded` or `unavailable` when documents does not answer within 10 s, and with the
 * ConnectError of a failed call.
 */
export type CreateDocument = (item: CreateItem) => Promise<string>;

/** Most documents, and bytes of them, in one call to documents. */
const itemsMax = 64;
const bytesMax = 4 * 1024 * 1024;
/** Documents from this size on are sent in a lane of large ones; see `createInBatches`. */
const largeBytesMin = 32 * 1024;
/**
 * Most bytes of large documents in one call. Gateway and documents each handle a call in one turn
 * of their event loops, which takes 3 ms of CPU for 1 MiB and delays all other requests.
 */
const largeBytesMax = 1024 * 1024;
/** Most running calls of all small lanes together, and of all large ones; lanes alternate. */
const lanesInFlightMax = { small: 32, large: 8 };
/** After this time a running call no longer holds back the next one of its lane. */
const lateMs = 100;
/** Most running calls of one lane, late ones included. */
const outMax = { small: 8, large: 4 };
/** From the arrival of a document to its answer. */
const timeoutMs = 10_000;
/** Pauses before the repetitions of a call that was unavailable. */
const repeatAfterMs = [50, 200, 500, 1_000];

interface Waiting extends CreateItem {
  /**
   * A repetition of a call whose answer was lost finds the row with this token, and is answered as
   * created.
   */
  readonly intakeToken: string;
}

type Documents = Pick<Client<typeof DocumentService>, "batchCreateDocuments">;

/**
 * Sends documents to their service: the first at once, and those that arrive during a call in
 * batches. Tenants share a call and alternate in it, each document with its own actor.
 *
 * A call is answered when its last document is done. So documents from 32 KiB are sent apart from
 * small ones, and large ones of different tenants in different calls. A tenant that was part of a
 * late call gets calls of its own until one of them is in time, so that document types that take
 * long to check delay only their owner.
 */
export function createInBatches(documents: Documents, registry: Registry): CreateDocument {
  const items = new Counter({
    name: "vidimus_intake_items_total",
    help: "Documents that came in, before they were sent on.",
    registers: [registry],
  });
  const small = smallLanes(documents);
  const large = createBatcher<Waiting, string>({
    ...commonRules,
    bytesMax: largeBytesMax,
    laneOf: tenantOf,
    lanesInFlightMax: lanesInFlightMax.large,
    late: { afterMs: lateMs, outMax: outMax.large },
    run: (batch, leftMs) => send(documents, batch, leftMs),
  });
  return async (item) => {
    items.inc();
    const enqueue = item.documentJson.length < largeBytesMin ? small : large;
    return enqueue({ ...item, intakeToken: uuidv7() });
  };
}

const tenantOf = ({ caller }: Waiting) => caller.tenantId;

const commonRules = {
  itemsMax,
  bytesMax,
  sizeOf: ({ documentJson }: Waiting) => documentJson.length,
  turnOf: tenantOf,
  deadline: {
    ms: timeoutMs,
    error: (wasSent: boolean) =>
      wasSent
        ? new DomainError("deadline_exceeded", "the document was not taken in within its time; it may still be")
        : new DomainError("unavailable", "documents cannot be taken in right now"),
  },
};

function smallLanes(documents: Documents): (item: Waiting) => Promise<string> {
  /** Tenants with calls of their own. */
  const slow = new Set<string>();
  return createBatcher<Waiting, string>({
    ...commonRules,
    laneOf: (item) => (slow.has(tenantOf(item)) ? tenantOf(item) : ""),
    lanesInFlightMax: lanesInFlightMax.small,
    late: {
      afterMs: lateMs,
      outMax: outMax.small,
      onLate: (batch) => batch.forEach((item) => slow.add(tenantOf(item))),
    },
    async run(batch, leftMs) {
      const startedMs = performance.now();
      const results = await send(documents, batch, leftMs);
      const [tenantId = "", another] = new Set(batch.map(tenantOf));
      if (another === undefined && performance.now() - startedMs < lateMs) slow.delete(tenantId);
      return results;
    },
  });
}

async function send(documents: Documents, batch: readonly Waiting[], leftMs: number): Promise<(string | Error)[]> {
  const items = batch.map(({ caller, documentJson, intakeToken }) => ({
    tenantId: caller.tenantId,
    draft: { documentJson, intakeToken },
    createdBy: actorOf(caller),
  }));
  const shared = shareCall(batch.map(({ rpc }) => rpc));
  const call = (timeoutMs: number) => documents.batchCreateDocuments({ items }, { ...shared, timeoutMs });
  try {
    return outcomesOf(await repeated(call, performance.now() + leftMs), batch.length);
  } finally {
    // Free the bodies: otherwise V8 marks the whole heap each time that they add up to 64 MiB.
    for (const { documentJson } of batch) freeBuffer(documentJson);
  }
}

/**
 * Repeats a call that found no server, lost its answer or found documents without its database, up
 * to four times, until the deadline.
 */
async function repeated<T>(call: (timeoutMs: number) => Promise<T>, deadlineMs: number): Promise<T> {
  const leftMs = () => Math.max(1, deadlineMs - performance.now());
  for (const waitMs of repeatAfterMs) {
    try {
      return await call(leftMs());
    } catch (error) {
      const isUnavailable = error instanceof ConnectError && error.code === Code.Unavailable;
      if (!isUnavailable || leftMs() <= waitMs) throw error;
      await pause(waitMs);
    }
  }
  return call(leftMs());
}

function outcomesOf({ results }: BatchCreateDocumentsResponse, count: number): (string | Error)[] {
  if (results.length !== count) throw new Error(`${count} documents were answered with ${results.length} results`);
  return results.map(({ outcome }) => {
    if (outcome.case === "created") return outcome.value.documentId;
    return outcome.case === "error" ? fromErrorInfo(outcome.value) : new Error("a document had no outcome");
  });
}

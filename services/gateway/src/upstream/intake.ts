import { type CallOptions, type Client, Code, ConnectError } from "@connectrpc/connect";
import type {
  BatchCreateDocumentsResponse,
  DocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { freeBuffer } from "@vidimus/kit/free-buffer";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { DomainError } from "@vidimus/kit/errors";
import { shareCall } from "@vidimus/kit/rpc/call-span";
import { fromErrorInfo } from "@vidimus/kit/rpc/error-table";
import { uuidv7 } from "@vidimus/kit/ids";
import { setTimeout as pause } from "node:timers/promises";
import { Counter, type Registry } from "prom-client";
import { actorOf } from "../access/acting.ts";
import type { Caller } from "../access/key-verifier.ts";

/** One document to create. */
interface IntakeItem {
  readonly caller: Caller;
  /** The body of the request, unparsed; empty once it has been sent and answered. */
  readonly documentJson: Buffer;
  /** Call options of the request. */
  readonly rpc: CallOptions;
}

/**
 * Creates one document and answers its id. Rejects with the DomainError of the documents service.
 */
export type Intake = (item: IntakeItem) => Promise<string>;

/** The most documents, and bytes of them, that the documents service takes in one call. */
const itemsMax = 64;
const bytesMax = 4 * 1024 * 1024;
/** The size from which a document travels with large ones; see `createIntake`. */
const largeBytesMin = 32 * 1024;
/**
 * The most bytes of large documents in one call. Both ends serialise, copy and write a call in one
 * turn of their event loops, which takes 3 ms of CPU for 1 MiB.
 */
const largeBytesMax = 1024 * 1024;
/** Most calls under way at once; lanes take turns for them. */
const lanesInFlightMax = { small: 32, large: 8 };
/** A call out for longer no longer holds back the next one of its lane. */
const lateMs = 100;
/** Most calls of one lane, never more than half of all. */
const outMax = { small: 8, large: 4 };
/** From the arrival of a document to its answer. */
const timeoutMs = 10_000;
/** Waits between repeats of a call whose answer was lost. */
const repeatAfterMs = [50, 200, 500, 1_000];

interface Waiting extends IntakeItem {
  /**
   * Names this request. A repeat of a lost call finds the row with its token and is answered as
   * created.
   */
  readonly intakeToken: string;
}

type Documents = Pick<Client<typeof DocumentService>, "batchCreateDocuments">;

/**
 * Sends documents to their service: the first at once, and those that arrive while a call is under
 * way in batches. Tenants share a call and take turns in it, each document with its own actor.
 *
 * A call is answered when its last document is done. So documents from 32 KiB travel apart from
 * small ones, and a tenant's apart from another's. A tenant that was in a late call travels alone
 * until a call of its own is in time: types that take long to check delay only their owner.
 */
export function createIntake(documents: Documents, registry: Registry): Intake {
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
  /** Tenants that travel alone. */
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
    // V8 would mark the whole heap each time that 64 MiB of them have come.
    for (const { documentJson } of batch) freeBuffer(documentJson);
  }
}

/** Repeats a call that found no server or lost its answer, up to four times, until the deadline. */
async function repeated<T>(call: (timeoutMs: number) => Promise<T>, deadlineMs: number): Promise<T> {
  const leftMs = () => Math.max(1, deadlineMs - performance.now());
  for (const waitMs of repeatAfterMs) {
    try {
      return await call(leftMs());
    } catch (error) {
      const isLost = error instanceof ConnectError && error.code === Code.Unavailable;
      if (!isLost || leftMs() <= waitMs) throw error;
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

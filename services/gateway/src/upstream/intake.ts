import { type CallOptions, type Client, Code, ConnectError } from "@connectrpc/connect";
import type {
  BatchCreateDocumentsResponse,
  DocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { DomainError } from "@vidimus/kit/errors";
import { fromErrorInfo } from "@vidimus/kit/rpc/error-table";
import { uuidv7 } from "@vidimus/kit/ids";
import { setTimeout as pause } from "node:timers/promises";
import { Counter, type Registry } from "prom-client";
import type { Caller } from "../access/key-verifier.ts";

/** One document to create. */
interface IntakeItem {
  readonly caller: Caller;
  /** The body of the request, unparsed. */
  readonly documentJson: Buffer;
  /** Call options of the request. A batch is sent with the headers of its first item. */
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
/** Most calls under way at once; tenants take turns for them. */
const lanesInFlightMax = { small: 32, large: 8 };
const timeoutMs = 10_000;
/**
 * An item that has waited in the queue for longer is not sent, because its request is about to time
 * out.
 */
const waitMsMax = 8_000;
/**
 * Waits between repeats of a call whose answer was lost; together they are shorter than one
 * deadline.
 */
const repeatAfterMs = [50, 200, 500, 1_000];

interface Waiting extends IntakeItem {
  /**
   * Names this request. A repeat of a lost call finds the row with its token and is answered as
   * created.
   */
  readonly intakeToken: string;
  readonly arrivedAt: number;
}

/**
 * Sends documents to their service: the first at once, and those that arrive while a call is under
 * way in batches. A call carries documents of one tenant, either small or large ones. A batch is
 * answered when its last document is done, so one document of 1 MiB would delay 63 small ones, or
 * those of another tenant.
 */
export function createIntake(
  documents: Pick<Client<typeof DocumentService>, "batchCreateDocuments">,
  registry: Registry,
): Intake {
  const items = new Counter({
    name: "vidimus_intake_items_total",
    help: "Documents that came in, before they were sent on.",
    registers: [registry],
  });
  const small = createLanes(documents, lanesInFlightMax.small);
  const large = createLanes(documents, lanesInFlightMax.large);
  return async (item) => {
    items.inc();
    const enqueue = item.documentJson.length < largeBytesMin ? small : large;
    return enqueue({ ...item, intakeToken: uuidv7(), arrivedAt: Date.now() });
  };
}

function createLanes(
  documents: Pick<Client<typeof DocumentService>, "batchCreateDocuments">,
  lanesInFlightMax: number,
): (item: Waiting) => Promise<string> {
  return createBatcher<Waiting, string>({
    itemsMax,
    bytesMax,
    sizeOf: ({ documentJson }) => documentJson.length,
    laneOf: ({ caller }) => caller.tenantId,
    lanesInFlightMax,
    run: (batch) => sendByKey(documents, batch),
  });
}

/**
 * One call per API key, because a call's metadata names the actor, and history must name the right
 * one.
 */
async function sendByKey(
  documents: Pick<Client<typeof DocumentService>, "batchCreateDocuments">,
  batch: Waiting[],
): Promise<(string | Error)[]> {
  const outcomes = new Map<Waiting, string | Error>();
  const late = Date.now() - waitMsMax;
  for (const item of batch) if (item.arrivedAt < late) outcomes.set(item, busy());
  const inTime = batch.filter((item) => !outcomes.has(item));
  const groups = Map.groupBy(inTime, ({ caller }) => caller.keyId);
  const calls = Array.from(groups.values(), async (items) => {
    const results = await send(documents, items).catch((error: unknown) => items.map(() => asError(error)));
    for (const [index, item] of items.entries()) outcomes.set(item, results[index] ?? new Error("no result"));
  });
  await Promise.all(calls);
  return batch.map((item) => outcomes.get(item) ?? new Error("no result"));
}

async function send(
  documents: Pick<Client<typeof DocumentService>, "batchCreateDocuments">,
  batch: Waiting[],
): Promise<(string | Error)[]> {
  const items = batch.map(({ caller, documentJson, intakeToken }) => ({
    tenantId: caller.tenantId,
    draft: { documentJson, intakeToken },
  }));
  const headers = batch[0]?.rpc.headers;
  const call = () => documents.batchCreateDocuments({ items }, { timeoutMs, ...(headers ? { headers } : {}) });
  return outcomesOf(await repeated(call), batch.length);
}

/** Repeats a call that found no server or lost its answer, up to four times. */
async function repeated<T>(call: () => Promise<T>): Promise<T> {
  for (const waitMs of repeatAfterMs) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ConnectError) || error.code !== Code.Unavailable) throw error;
      await pause(waitMs);
    }
  }
  return call();
}

function outcomesOf({ results }: BatchCreateDocumentsResponse, count: number): (string | Error)[] {
  if (results.length !== count) throw new Error(`${count} documents were answered with ${results.length} results`);
  return results.map(({ outcome }) => {
    if (outcome.case === "created") return outcome.value.documentId;
    return outcome.case === "error" ? fromErrorInfo(outcome.value) : new Error("a document had no outcome");
  });
}

function busy(): DomainError {
  return new DomainError("unavailable", "documents cannot be taken in right now");
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

import { type CallOptions, type Client, Code, ConnectError } from "@connectrpc/connect";
import type {
  BatchCreateDocumentsResponse,
  DocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { createBatcher } from "@vidimus/kit/batcher";
import { DomainError } from "@vidimus/kit/errors";
import { fromErrorInfo } from "@vidimus/kit/rpc/error-table";
import { uuidv7 } from "@vidimus/kit/uuid";
import { setTimeout as pause } from "node:timers/promises";
import { Counter, type Registry } from "prom-client";
import type { Caller } from "../domain/key-verifier.ts";

/** One document on its way in. */
export interface IntakeItem {
  readonly caller: Caller;
  /** The body of the request, as it came. */
  readonly documentJson: Buffer;
  /** Of the request. Its identity travels with the batch that carries it first. */
  readonly rpc: CallOptions;
}

/** Takes one document in and answers its id. Rejects with the DomainError that documents found. */
export type Intake = (item: IntakeItem) => Promise<string>;

/** What a batch of documents may be: what the service takes at once. */
const itemsMax = 64;
const bytesMax = 4 * 1024 * 1024;
const timeoutMs = 10_000;
/** An item that has waited so long in a queue is not sent any more: its client is about to be told. */
const waitMsMax = 8_000;
/** Waits between repeats of a call whose answer was lost; together less than a deadline. */
const repeatAfterMs = [50, 200, 500, 1_000];

interface Waiting extends IntakeItem {
  /** Names this request: a repeat of a lost call finds its own row and is answered as created. */
  readonly intakeToken: string;
  readonly arrivedAt: number;
}

/** Sends documents in as they come, and in batches while a call is under way. */
export function createIntake(
  documents: Pick<Client<typeof DocumentService>, "batchCreateDocuments">,
  registry: Registry,
): Intake {
  const items = new Counter({
    name: "vidimus_intake_items_total",
    help: "Documents that came in, before they were sent on.",
    registers: [registry],
  });
  const enqueue = createBatcher<Waiting, string>({
    itemsMax,
    bytesMax,
    sizeOf: ({ documentJson }) => documentJson.length,
    run: (batch) => sendByKey(documents, batch),
  });
  return async (item) => {
    items.inc();
    return enqueue({ ...item, intakeToken: uuidv7(), arrivedAt: Date.now() });
  };
}

/** One call a key, since a call's metadata says who acts, and history must not name somebody else. */
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

/** Repeats a call that found nobody or lost its answer, a bounded number of times. */
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

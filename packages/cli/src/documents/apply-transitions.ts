import {
  DocumentService,
  type TransitionDocumentResult,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { CliError } from "../cli-error.ts";
import { forEachConcurrent } from "../for-each-concurrent.ts";
import { openService, type ServiceCaller } from "../rpc/open-service.ts";
import { describeRefusal } from "../terminal/describe-refusal.ts";
import type { Session } from "../session.ts";
import { StoppedStackError } from "../settings/stopped-stack.ts";
import { openProgress } from "../terminal/progress.ts";
import {
  fromProto,
  readVersion,
  type TransitionedDocument,
  transitionTable,
  type VersionChoice,
} from "./apply-transition.ts";

interface Failed {
  readonly id: string;
  readonly reason: string;
}

type Result = TransitionedDocument | Failed;

interface RequestedTransition {
  readonly tenantId: string;
  readonly name: string;
  readonly on: VersionChoice;
}

/** The most transitions that the service takes in one call. */
const batchMax = 64;
/**
 * Most batches at once. A process of the service runs one transaction of a tenant at a time;
 * meanwhile the versions of the next batches are read.
 */
const batchesMax = 3;
const readsMax = 16;
/** Enough for 64 documents of 1 MiB, which take several transactions. */
const timeoutMs = 30_000;

/**
 * Applies a transition to each of several documents and prints the result of each.
 *
 * @throws CliError when any transition failed, after all results were printed
 */
export async function applyTransitions(
  session: Session,
  ids: readonly string[],
  name: string,
  on: VersionChoice,
): Promise<void> {
  const transition = { tenantId: session.settings.get("tenant"), name, on };
  // The service accepts ids in any case, and refuses a batch that contains a document twice.
  const distinct = [...new Map(ids.map((id) => [id.toLowerCase(), id])).values()];
  const results = await runWithProgress(session, distinct, transition);
  const transitioned = results.filter((result) => "status" in result);
  const failed = results.filter((result) => "reason" in result);
  session.print({ transitioned, failed }, toText(transitioned, failed));
  if (failed.length > 0) throw new CliError(`${failed.length} of ${results.length} transitions failed`);
}

async function runWithProgress(
  session: Session,
  ids: readonly string[],
  transition: RequestedTransition,
): Promise<Result[]> {
  using documents = await openService(session, "documents", DocumentService);
  using progress = await openProgress(session.world.stderr, ids.length);
  const results: Result[] = [];
  let [done, failures] = [0, 0];
  await forEachConcurrent(batchesOf(ids), batchesMax, async ({ from, batch }) => {
    const answers = await applyBatch(documents, batch, transition).catch((error: unknown) => {
      // What was done before the stack stopped must still be printed.
      if (!(error instanceof StoppedStackError) || results.length === 0) throw error;
      return batch.map((id) => ({ id, reason: error.message }));
    });
    for (const [index, answer] of answers.entries()) {
      results[from + index] = answer;
      if ("reason" in answer) failures += 1;
      else done += 1;
    }
    progress.advance(answers.length, `${done} done, ${failures} failed`);
  });
  return results;
}

function* batchesOf(ids: readonly string[]): Generator<{ from: number; batch: readonly string[] }> {
  for (let from = 0; from < ids.length; from += batchMax) yield { from, batch: ids.slice(from, from + batchMax) };
}

/** Returns one result for each id. Documents that cannot be read are left out of the call. */
async function applyBatch(
  documents: ServiceCaller<typeof DocumentService>,
  ids: readonly string[],
  { tenantId, name, on }: RequestedTransition,
): Promise<Result[]> {
  const results = new Map<string, Result>();
  const versions = new Map<string, bigint>();
  await forEachConcurrent(ids, readsMax, async (id) => {
    const version = await readVersion(documents, tenantId, id, on).catch(reasonOf);
    if (typeof version === "bigint") versions.set(id, version);
    else results.set(id, { id, ...version });
  });
  const sent = ids.filter((id) => versions.has(id));
  const transitions = sent.map((documentId) => ({ documentId, name, expectedVersion: versions.get(documentId) ?? 0n }));
  if (sent.length > 0) {
    const answer = await documents
      .call((client, options) => client.batchTransitionDocuments({ tenantId, transitions }, { ...options, timeoutMs }))
      .catch(reasonOf);
    for (const [index, id] of sent.entries()) {
      results.set(id, "reason" in answer ? { id, ...answer } : resultOf(id, answer.results[index]));
    }
  }
  return ids.map((id) => results.get(id) ?? unanswered(id));
}

function resultOf(id: string, result: TransitionDocumentResult | undefined): Result {
  const { outcome } = result ?? {};
  if (outcome?.case === "transitioned") return fromProto(outcome.value);
  if (outcome?.case === "error") return { id, reason: describeRefusal(outcome.value) };
  return unanswered(id);
}

function unanswered(id: string): Failed {
  return { id, reason: "the documents service answered without a result" };
}

/** The reason of an expected failure. Rethrows bugs and a stopped stack. */
function reasonOf(error: unknown): { readonly reason: string } {
  if (error instanceof CliError && !(error instanceof StoppedStackError)) return { reason: error.message };
  throw error;
}

function toText(transitioned: readonly TransitionedDocument[], failed: readonly Failed[]): string {
  const done = transitioned.length > 0 ? [transitionTable(transitioned)] : [];
  return [...done, ...failed.map(({ id, reason }) => `failed: ${id}: ${reason}`)].join("\n");
}

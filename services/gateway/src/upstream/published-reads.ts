import { create, toJsonString } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions, Client } from "@connectrpc/connect";
import {
  type GetPublishedDocumentRequestSchema,
  type GetPublishedDocumentResponse,
  type ListPublishedDocumentsRequest,
  ListPublishedDocumentsRequestSchema,
  ListPublishedDocumentsResponseSchema,
  type PublishedDocumentResult,
  type PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { withinDeadline } from "@vidimus/kit/deadline";
import { DomainError } from "@vidimus/kit/errors";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { fromErrorInfo } from "@vidimus/kit/rpc/error-table";
import { shareCalls } from "@vidimus/kit/queues/share-calls";

type DocumentRequest = MessageInitShape<typeof GetPublishedDocumentRequestSchema>;

/** The reads that many clients make at once. */
type PublishedReads = Pick<Client<typeof PublishedDocumentService>, "listPublishedDocuments" | "getPublishedDocument">;

type Published = Pick<
  Client<typeof PublishedDocumentService>,
  "listPublishedDocuments" | "revalidatePublishedPages" | "batchGetPublishedDocuments"
>;

/** A call out for longer no longer holds back the next one, of which a lane has at most eight. */
const late = { afterMs: 100, outMax: 8 };
/** From the arrival of a read to its answer. */
const timeoutMs = 10_000;
const tooLate = () => new DomainError("deadline_exceeded", "the documents service did not answer in time");

/**
 * A call carries questions of one tenant only, because all questions in a call wait for its largest
 * answer. Tenants take turns for calls.
 */
const rules = { lanesInFlightMax: 32, late, deadline: { ms: timeoutMs, error: tooLate } };

/**
 * Asked for instead of a tag that is no longer current, so that readers with different old tags
 * share a page. No page has this tag; with none, the page's tag could be older than what was just
 * compared.
 */
const staleTag = 'W/""';

interface Question<Request> {
  readonly request: Request;
  readonly rpc: CallOptions;
}

type PageQuestion = Question<ListPublishedDocumentsRequest>;
type DocumentQuestion = Question<DocumentRequest>;

/**
 * Batches reads without a timer: the first goes out at once, and those that arrive while a call is
 * under way go out together when it ends. Clients that read the same page share one call. Single
 * documents are batched, and so are the checks whether a client's tagged page is still current.
 * Each tenant has a lane of its own, so that large documents of one do not delay small ones of
 * another.
 */
export function batchReads(published: Published): PublishedReads {
  const list = shareCalls(
    ({ request }: PageQuestion) => toJsonString(ListPublishedDocumentsRequestSchema, request),
    ({ request, rpc }) => published.listPublishedDocuments(request, rpc),
    { lateMs: late.afterMs, outMax: late.outMax },
  );
  const revalidate = createBatcher<PageQuestion, string>({
    ...rules,
    itemsMax: 64,
    laneOf: ({ request }) => request.tenantId,
    run: (questions, leftMs) => revalidateAll(published, questions, leftMs),
  });
  const get = documentReader(published);
  return {
    // The message is built once, for the key of the shared call and for the call itself.
    listPublishedDocuments: async (init, rpc = {}) => {
      const question = { request: create(ListPublishedDocumentsRequestSchema, init), rpc };
      const etag = question.request.ifNoneMatch === "" ? "" : await revalidate(question);
      if (etag !== "") return create(ListPublishedDocumentsResponseSchema, { etag, notModified: true });
      if (question.request.ifNoneMatch !== "") question.request.ifNoneMatch = staleTag;
      return inTime(list(question));
    },
    getPublishedDocument: (request, rpc = {}) => get({ request, rpc }),
  };
}

/**
 * Reads by id, reads by slug, and reads with linked documents have lanes of their own: a slug costs
 * one more look-up, and the links of each document another read. So a call has few of the last.
 */
function documentReader(published: Published): (question: DocumentQuestion) => Promise<GetPublishedDocumentResponse> {
  const lanes = {
    ...rules,
    partialAnswers: true,
    laneOf: ({ request: { tenantId, by } }: DocumentQuestion) => `${tenantId} ${by?.case}`,
    run: (questions: DocumentQuestion[], leftMs: number) => getAll(published, questions, leftMs),
  };
  const plain = createBatcher<DocumentQuestion, GetPublishedDocumentResponse>({ ...lanes, itemsMax: 64 });
  const linked = createBatcher<DocumentQuestion, GetPublishedDocumentResponse>({ ...lanes, itemsMax: 8 });
  return (question) => (question.request.includeLinks ? linked(question) : plain(question));
}

/** Rejects when the answer to a shared call does not come in time, counted from the question. */
async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  if (!(await withinDeadline(answer, timeoutMs))) throw tooLate();
  return answer;
}

/** The tags of the pages that are still current, "" for the others. */
async function revalidateAll(published: Published, questions: PageQuestion[], leftMs: number): Promise<string[]> {
  const pages = questions.map(({ request }) => request);
  return (await published.revalidatePublishedPages({ pages }, optionsOf(questions, leftMs))).etags;
}

/** A shared call has the metadata of its first question, and as much time as its last one. */
function optionsOf(questions: readonly Question<unknown>[], leftMs: number): CallOptions {
  return { ...questions[0]?.rpc, timeoutMs: Math.max(1, leftMs) };
}

/**
 * Answers the first documents of the batch, as many as fit into one response; the batcher asks
 * again for the rest.
 */
async function getAll(
  published: Published,
  questions: DocumentQuestion[],
  leftMs: number,
): Promise<(GetPublishedDocumentResponse | Error)[]> {
  const items = questions.map(({ request }) => request);
  const { results } = await published.batchGetPublishedDocuments({ items }, optionsOf(questions, leftMs));
  return results.map(toAnswer);
}

function toAnswer({ outcome }: PublishedDocumentResult): GetPublishedDocumentResponse | Error {
  if (outcome.case === "found") return outcome.value;
  return outcome.case === "error" ? fromErrorInfo(outcome.value) : new Error("a document had no outcome");
}

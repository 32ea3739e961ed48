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

/**
 * A call carries questions of one tenant only, because all questions in a call wait for its largest
 * answer.
 */
const lanes = {
  itemsMax: 64,
  laneOf: ({ request }: Question<{ readonly tenantId?: string }>) => request.tenantId ?? "",
  lanesInFlightMax: 32,
};

interface Question<Request> {
  readonly request: Request;
  readonly rpc: CallOptions;
}

type PageQuestion = Question<ListPublishedDocumentsRequest>;

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
  );
  const revalidate = createBatcher<PageQuestion, string>({
    ...lanes,
    run: (questions) => revalidateAll(published, questions),
  });
  const get = createBatcher<Question<DocumentRequest>, GetPublishedDocumentResponse>({
    ...lanes,
    partialAnswers: true,
    run: (questions) => getAll(published, questions),
  });
  return {
    // The message is built once, for the key of the shared call and for the call itself.
    listPublishedDocuments: async (init, rpc = {}) => {
      const question = { request: create(ListPublishedDocumentsRequestSchema, init), rpc };
      const etag = question.request.ifNoneMatch === "" ? "" : await revalidate(question);
      if (etag === "") return list(question);
      return create(ListPublishedDocumentsResponseSchema, { etag, notModified: true });
    },
    getPublishedDocument: (request, rpc = {}) => get({ request, rpc }),
  };
}

/** The tags of the pages that are still current, "" for the others. */
async function revalidateAll(published: Published, questions: PageQuestion[]): Promise<string[]> {
  const pages = questions.map(({ request }) => request);
  return (await published.revalidatePublishedPages({ pages }, questions[0]?.rpc)).etags;
}

/**
 * Answers the first documents of the batch, as many as fit into one response; the batcher asks
 * again for the rest.
 */
async function getAll(
  published: Published,
  questions: Question<DocumentRequest>[],
): Promise<(GetPublishedDocumentResponse | Error)[]> {
  const items = questions.map(({ request }) => request);
  const { results } = await published.batchGetPublishedDocuments({ items }, questions[0]?.rpc);
  return results.map(toAnswer);
}

function toAnswer({ outcome }: PublishedDocumentResult): GetPublishedDocumentResponse | Error {
  if (outcome.case === "found") return outcome.value;
  return outcome.case === "error" ? fromErrorInfo(outcome.value) : new Error("a document had no outcome");
}

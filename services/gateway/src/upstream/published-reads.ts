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
import { createBatcher } from "@vidimus/kit/batcher";
import { fromErrorInfo } from "@vidimus/kit/rpc/error-table";
import { shareCalls } from "@vidimus/kit/shared-call";

type DocumentRequest = MessageInitShape<typeof GetPublishedDocumentRequestSchema>;

/** The reads that many readers make at once. */
export type PublishedReads = Pick<
  Client<typeof PublishedDocumentService>,
  "listPublishedDocuments" | "getPublishedDocument"
>;

type Published = Pick<
  Client<typeof PublishedDocumentService>,
  "listPublishedDocuments" | "revalidatePublishedPages" | "batchGetPublishedDocuments"
>;

interface Question<Request> {
  readonly request: Request;
  readonly rpc: CallOptions;
}

type PageQuestion = Question<ListPublishedDocumentsRequest>;

/**
 * Natural batching of reads: a page that several readers wait for is asked for once; documents that are asked for while
 * a call is under way go out together, and so do pages that readers hold already, each a page of its own, to hear
 * whether they still stand. An idle gateway asks at once.
 */
export function batchReads(published: Published): PublishedReads {
  const list = shareCalls(
    ({ request }: PageQuestion) => toJsonString(ListPublishedDocumentsRequestSchema, request),
    ({ request, rpc }) => published.listPublishedDocuments(request, rpc),
  );
  const revalidate = createBatcher<PageQuestion, string>({
    itemsMax: 64,
    run: (questions) => revalidateAll(published, questions),
  });
  const get = createBatcher<Question<DocumentRequest>, GetPublishedDocumentResponse>({
    itemsMax: 64,
    run: (questions) => getAll(published, questions),
  });
  return {
    // Made into a message once: the key and the call are both read off it.
    listPublishedDocuments: async (init, rpc = {}) => {
      const question = { request: create(ListPublishedDocumentsRequestSchema, init), rpc };
      const etag = question.request.ifNoneMatch === "" ? "" : await revalidate(question);
      if (etag === "") return list(question);
      return create(ListPublishedDocumentsResponseSchema, { etag, notModified: true });
    },
    getPublishedDocument: (request, rpc = {}) => get({ request, rpc }),
  };
}

/** The tags of pages that still stand, "" for the others. */
async function revalidateAll(published: Published, questions: PageQuestion[]): Promise<string[]> {
  const pages = questions.map(({ request }) => request);
  return (await published.revalidatePublishedPages({ pages }, questions[0]?.rpc)).etags;
}

/** Asks until everything is answered: an answer holds what fits. */
async function getAll(
  published: Published,
  questions: Question<DocumentRequest>[],
): Promise<(GetPublishedDocumentResponse | Error)[]> {
  const answers: (GetPublishedDocumentResponse | Error)[] = [];
  while (answers.length < questions.length) {
    const rest = questions.slice(answers.length);
    const items = rest.map(({ request }) => request);
    const { results } = await published.batchGetPublishedDocuments({ items }, rest[0]?.rpc);
    if (results.length === 0 || results.length > rest.length) {
      throw new Error(`${rest.length} questions were answered with ${results.length} results`);
    }
    answers.push(...results.map(toAnswer));
  }
  return answers;
}

function toAnswer({ outcome }: PublishedDocumentResult): GetPublishedDocumentResponse | Error {
  if (outcome.case === "found") return outcome.value;
  return outcome.case === "error" ? fromErrorInfo(outcome.value) : new Error("a document had no outcome");
}

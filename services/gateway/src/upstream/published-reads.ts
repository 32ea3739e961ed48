import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions, Client } from "@connectrpc/connect";
import type {
  GetPublishedDocumentRequestSchema,
  GetPublishedDocumentResponse,
  GetPublishedSiteRequestSchema,
  GetPublishedSiteResponse,
  ListPublishedChangesRequestSchema,
  ListPublishedChangesResponse,
  PublishedDocumentResult,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { fromErrorInfo } from "@vidimus/kit/rpc/errors/error-table";
import { type PageCalls, pageReader } from "./published-pages.ts";
import { optionsOf, rules } from "./shared-reads.ts";
import { shareWaits } from "./shared-waits.ts";

type DocumentRequest = MessageInitShape<typeof GetPublishedDocumentRequestSchema>;

type PublishedReads = Pick<
  Client<typeof PublishedDocumentService>,
  "listPublishedDocuments" | "getPublishedDocument" | "listPublishedChanges" | "getPublishedSite"
>;

type DocumentCalls = Pick<Client<typeof PublishedDocumentService>, "batchGetPublishedDocuments">;
type SiteCalls = Pick<Client<typeof PublishedDocumentService>, "getPublishedSite">;
type SiteRequest = MessageInitShape<typeof GetPublishedSiteRequestSchema>;
type ChangeCalls = Pick<Client<typeof PublishedDocumentService>, "listPublishedChanges">;
type ChangesRequest = MessageInitShape<typeof ListPublishedChangesRequestSchema>;

interface ChangesQuestion {
  readonly request: ChangesRequest;
  readonly rpc: CallOptions;
}

interface DocumentQuestion {
  readonly request: DocumentRequest;
  readonly rpc: CallOptions;
}

/**
 * Batches reads without waiting for more of them: the first goes out at once, and those that arrive
 * during a call go out together when it ends or is late. Polls that wait for a change use
 * `shareWaits` instead.
 */
export function batchReads(calls: PageCalls & DocumentCalls & ChangeCalls & SiteCalls): PublishedReads {
  const get = documentReader(calls);
  const look = changesReader(calls);
  const site = siteReader(calls);
  const wait = shareWaits<ChangesRequest, ListPublishedChangesResponse>(changesLane, calls.listPublishedChanges);
  return {
    listPublishedDocuments: pageReader(calls),
    getPublishedDocument: (request, rpc = {}) => get({ request, rpc }),
    getPublishedSite: (request, rpc = {}) => site({ request, rpc }),
    listPublishedChanges: (request, rpc = {}) => (request.waitMs ? wait(request, rpc) : look({ request, rpc })),
  };
}

interface SiteQuestion {
  readonly request: SiteRequest;
  readonly rpc: CallOptions;
}

/**
 * Callers that ask for the same site with the same tag share a call: its configuration may have a
 * megabyte, and a web server may ask for it with every page.
 */
function siteReader(calls: SiteCalls): (question: SiteQuestion) => Promise<GetPublishedSiteResponse> {
  return createBatcher({
    ...rules,
    // Requests for many hosts of one tenant would fill a limit that all tenants share.
    lanesInFlightMax: Number.POSITIVE_INFINITY,
    itemsMax: Number.POSITIVE_INFINITY,
    laneOf: ({ request: { tenantId, host, ifNoneMatch } }) => JSON.stringify([tenantId, host, ifNoneMatch]),
    run: async (questions, leftMs) => {
      const answer = await calls.getPublishedSite(questions[0]?.request ?? {}, optionsOf(questions, leftMs));
      return questions.map(() => answer);
    },
  });
}

/** Equal only for requests with the same answer. */
function changesLane({ tenantId, since, type, limit }: ChangesRequest): string {
  return JSON.stringify([tenantId, since, type, limit]);
}

/**
 * Clients at the same position of the change feed ask the same, often at once: after an outage of
 * the gateway, or because a change woke them. They share an answer that was requested after they
 * came.
 */
function changesReader(calls: ChangeCalls): (question: ChangesQuestion) => Promise<ListPublishedChangesResponse> {
  return createBatcher({
    ...rules,
    // Longer than in `rules`, as for pages: after 100 ms a second call began beside the first,
    // and calls of 4 MiB delayed each other and all other calls to documents.
    late: { afterMs: 1_000, outMax: 8 },
    // Clients of one tenant at many positions would fill a limit that all tenants share.
    lanesInFlightMax: Number.POSITIVE_INFINITY,
    itemsMax: Number.POSITIVE_INFINITY,
    laneOf: ({ request }) => changesLane(request),
    run: async (questions, leftMs) => {
      const answer = await calls.listPublishedChanges(questions[0]?.request ?? {}, optionsOf(questions, leftMs));
      return questions.map(() => answer);
    },
  });
}

/**
 * Reads by id, by slug, and with linked documents do not share calls with each other: the slugs of
 * a call cost one or two look-ups, and each request for linked documents costs a read of its own.
 * So a call has at most 8 requests for linked documents.
 */
function documentReader(calls: DocumentCalls): (question: DocumentQuestion) => Promise<GetPublishedDocumentResponse> {
  const lanes = {
    ...rules,
    partialAnswers: true,
    laneOf: ({ request: { tenantId, by } }: DocumentQuestion) => `${tenantId} ${by?.case}`,
    run: (questions: DocumentQuestion[], leftMs: number) => getAll(calls, questions, leftMs),
  };
  const plain = createBatcher<DocumentQuestion, GetPublishedDocumentResponse>({ ...lanes, itemsMax: 64 });
  const linked = createBatcher<DocumentQuestion, GetPublishedDocumentResponse>({ ...lanes, itemsMax: 8 });
  return (question) => (question.request.includeLinks ? linked(question) : plain(question));
}

/**
 * Answers the first documents of the batch, as many as fit into one response; the batcher asks
 * again for the rest.
 */
async function getAll(
  calls: DocumentCalls,
  questions: DocumentQuestion[],
  leftMs: number,
): Promise<(GetPublishedDocumentResponse | Error)[]> {
  const items = questions.map(({ request }) => request);
  const { results } = await calls.batchGetPublishedDocuments({ items }, optionsOf(questions, leftMs));
  return results.map(toAnswer);
}

function toAnswer({ outcome }: PublishedDocumentResult): GetPublishedDocumentResponse | Error {
  if (outcome.case === "found") return outcome.value;
  return outcome.case === "error" ? fromErrorInfo(outcome.value) : new Error("a document had no outcome");
}

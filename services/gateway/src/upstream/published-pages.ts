import { create, toBinary } from "@bufbuild/protobuf";
import type { CallOptions, Client } from "@connectrpc/connect";
import {
  type ListPublishedDocumentsRequest,
  ListPublishedDocumentsRequestSchema,
  type ListPublishedDocumentsResponse,
  ListPublishedDocumentsResponseSchema,
  type PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { shareCalls } from "@vidimus/kit/queues/share-calls";
import { KeptPages } from "./kept-pages.ts";
import { inTime, optionsOf, rules } from "./shared-reads.ts";

export type PageCalls = Pick<
  Client<typeof PublishedDocumentService>,
  "listPublishedDocuments" | "revalidatePublishedPages"
>;

type ReadPage = Pick<PageCalls, "listPublishedDocuments">["listPublishedDocuments"];

interface PageQuestion {
  /** The request without a tag. */
  readonly page: ListPublishedDocumentsRequest;
  /** Equal only for requests with the same answer. */
  readonly key: string;
  readonly rpc: CallOptions;
}

interface TagQuestion extends PageQuestion {
  readonly tag: string;
}

/**
 * After `lateMs` the next call for a page no longer waits for the running one. A large page takes a
 * tenth of a second on a busy machine; with 100 ms as the limit, each further call delayed those
 * before it even more.
 */
const late = { lateMs: 1_000, outMax: 8 };

/**
 * Reads pages. Readers of the same page share one call. A page that was read twice without a change
 * is cached. A cached page, and a tag that a client sends, is used only after documents has said
 * that the tag is current.
 */
export function pageReader(calls: PageCalls): ReadPage {
  const kept = new KeptPages();
  const read = shareCalls(
    ({ key }: TagQuestion) => key,
    (question, last: ListPublishedDocumentsResponse | undefined) => readAfter(calls, question, last),
    late,
  );
  const stands = createBatcher<TagQuestion, boolean>({
    ...rules,
    itemsMax: 64,
    laneOf: ({ page }) => page.tenantId,
    run: (questions, leftMs) => compareTags(calls, questions, leftMs),
  });
  return async (init, rpc = {}) => {
    const { held, question } = ask(init, rpc);
    const name = { tenantId: question.page.tenantId, key: question.key };
    const known = kept.get(name);
    // At most one tag of a page is current, so when the cached one is, the client's other one is
    // not.
    if (known && (await stands({ ...question, tag: known.etag }))) return known;
    if (held !== "" && held !== known?.etag && (await stands({ ...question, tag: held }))) return unchanged(held);
    const page = await inTime(read({ ...question, tag: held }));
    kept.note(name, page);
    return page;
  };
}

/**
 * Reads a page, unless it is unchanged since the last call. `tag` is outdated, so it is sent only
 * as the tag that the page must not be older than. Readers with different old tags share a call,
 * which has the tag of the first.
 */
async function readAfter(
  calls: PageCalls,
  { page: question, tag: knownTag, rpc }: TagQuestion,
  last: ListPublishedDocumentsResponse | undefined,
): Promise<ListPublishedDocumentsResponse> {
  const page = await calls.listPublishedDocuments({ ...question, knownTag, ifNoneMatch: last?.etag ?? "" }, rpc);
  return last && page.notModified ? last : page;
}

/** Takes the client's tag, `held`, out of its request; "" for none. */
function ask(init: Parameters<ReadPage>[0], rpc: CallOptions): { held: string; question: PageQuestion } {
  const page = create(ListPublishedDocumentsRequestSchema, init);
  const held = page.ifNoneMatch;
  page.ifNoneMatch = "";
  const key = Buffer.from(toBinary(ListPublishedDocumentsRequestSchema, page)).toString("latin1");
  return { held, question: { page, key, rpc } };
}

function tagged({ page, tag }: TagQuestion): ListPublishedDocumentsRequest {
  return { ...page, ifNoneMatch: tag };
}

function unchanged(etag: string): ListPublishedDocumentsResponse {
  return create(ListPublishedDocumentsResponseSchema, { etag, notModified: true });
}

/** Whether each tag is still current. Equal questions are asked once. */
async function compareTags(calls: PageCalls, questions: TagQuestion[], leftMs: number): Promise<boolean[]> {
  const nameOf = ({ tag, key }: TagQuestion) => `${tag} ${key}`;
  const distinct = new Map(questions.map((question) => [nameOf(question), question]));
  const pages = [...distinct.values()].map(tagged);
  const { etags } = await calls.revalidatePublishedPages({ pages }, optionsOf(questions, leftMs));
  const stands = new Map([...distinct.keys()].map((name, index) => [name, etags[index] !== ""]));
  return questions.map((question) => stands.get(nameOf(question)) ?? false);
}

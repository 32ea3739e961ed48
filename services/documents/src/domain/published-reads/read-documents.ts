import { DomainError } from "@vidimus/kit/errors";
import { type DocumentAnswer, type DocumentName, type LinkedPublicationReader, readDocument } from "./read-document.ts";
import type { PublicationState } from "./published-document.ts";
import type { SlugReader } from "./resolve-filter.ts";

interface DocumentQuestion {
  readonly tenantId: string;
  readonly name: DocumentName;
  readonly includeLinks: boolean;
  readonly ifNoneMatch: string;
}

export interface SlugName {
  readonly type: string;
  readonly slug: string;
}

/** A slug with the document that has it, or had it last. */
export interface SlugHolder extends SlugName {
  readonly documentId: string;
}

export interface BatchGetPublishedDocumentsDeps {
  readonly publications: LinkedPublicationReader & {
    /**
     * The states of these documents, in any order, up to `bytesMax`; `complete` when none was left
     * out.
     */
    findAll(
      tenantId: string,
      documentIds: readonly string[],
      bytesMax: number,
      signal: AbortSignal,
    ): Promise<{ states: PublicationState[]; complete: boolean }>;
  };
  readonly slugs: {
    /** The documents that have these slugs, or had them last, in any order. */
    findDocuments(tenantId: string, names: readonly SlugName[], signal: AbortSignal): Promise<SlugHolder[]>;
  };
}

const bytesMax = 4 * 1024 * 1024;

/**
 * Answers requests of several tenants, each on its own. For each tenant all slugs cost one read,
 * two when some slug has no current holder, and all documents up to 4 MiB one. A request for linked
 * documents may cost one more read.
 *
 * @returns answers in the order of the requests: at least one, fewer than requested when more would
 * exceed 4 MiB
 */
export async function readDocuments(
  deps: BatchGetPublishedDocumentsDeps,
  questions: readonly DocumentQuestion[],
  signal: AbortSignal,
): Promise<(DocumentAnswer | DomainError)[]> {
  const byTenant = Map.groupBy(questions, ({ tenantId }) => tenantId);
  const ahead = await Promise.all(
    Array.from(byTenant, async ([tenantId, asked]) => {
      const idOf = await findSlugs(deps.slugs, tenantId, asked, signal);
      const ids = asked.flatMap(({ name }) => ("documentId" in name ? name.documentId : (idOf(name) ?? [])));
      return [tenantId, { idOf, find: await findStates(deps.publications, tenantId, ids, signal) }] as const;
    }),
  );
  const ofTenant = new Map(ahead);
  const slugs: SlugReader = {
    findDocument: async (tenantId, type, slug) => ofTenant.get(tenantId)?.idOf({ type, slug }),
  };
  const publications: LinkedPublicationReader = {
    find: async (tenantId, documentId) => ofTenant.get(tenantId)?.find(documentId),
    findVisible: (...request) => deps.publications.findVisible(...request),
  };
  const answers: (DocumentAnswer | DomainError)[] = [];
  let bytes = 0;
  for (const { tenantId, name, ...request } of questions) {
    const answer = await readDocument({ publications, slugs }, tenantId, name, request, signal).catch(expected);
    if (!(answer instanceof DomainError)) bytes += answer.documentJson.length + answer.includedJson.length;
    if (answers.length > 0 && bytes > bytesMax) break;
    answers.push(answer);
  }
  return answers;
}

async function findSlugs(
  slugs: BatchGetPublishedDocumentsDeps["slugs"],
  tenantId: string,
  questions: readonly DocumentQuestion[],
  signal: AbortSignal,
): Promise<(name: SlugName) => string | undefined> {
  const names = questions.flatMap(({ name }) => ("slug" in name ? name : []));
  if (names.length === 0) return () => undefined;
  const holders = await slugs.findDocuments(tenantId, names, signal);
  const ids = new Map(holders.map(({ type, slug, documentId }) => [`${type}\n${slug}`, documentId]));
  return ({ type, slug }) => ids.get(`${type}\n${slug}`);
}

/**
 * Reads in one read the documents that one tenant's requests name. Those beyond 4 MiB are read one
 * by one, when their requests are answered.
 */
async function findStates(
  publications: BatchGetPublishedDocumentsDeps["publications"],
  tenantId: string,
  documentIds: readonly string[],
  signal: AbortSignal,
): Promise<(documentId: string) => Promise<PublicationState | undefined>> {
  const ids = new Set(documentIds);
  if (ids.size === 0) return async () => undefined;
  const { states, complete } = await publications.findAll(tenantId, [...ids], bytesMax, signal);
  const found = new Map(states.map((state) => [state.documentId, state]));
  return async (documentId) => {
    const state = found.get(documentId);
    return state || complete ? state : publications.find(tenantId, documentId, signal);
  };
}

function expected(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  throw error;
}

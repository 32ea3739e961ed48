import { DomainError } from "@vidimus/kit/errors";
import {
  type DocumentAnswer,
  type DocumentName,
  type GetPublishedDocumentDeps,
  type LinkedPublicationReader,
  type PublicationReader,
  type PublicationState,
  readDocument,
} from "./read-document.ts";

/** A request for one document. */
interface DocumentQuestion {
  readonly tenantId: string;
  readonly name: DocumentName;
  readonly includeLinks: boolean;
  readonly ifNoneMatch: string;
}

/** Stores that many documents are read from. */
export interface BatchGetPublishedDocumentsDeps extends GetPublishedDocumentDeps {
  readonly publications: LinkedPublicationReader & {
    /**
     * The states of these documents, in any order, until they hold `bytesMax`; `complete` when none
     * was left out.
     */
    findAll(
      tenantId: string,
      documentIds: readonly string[],
      bytesMax: number,
      signal: AbortSignal,
    ): Promise<{ states: PublicationState[]; complete: boolean }>;
  };
}

const bytesMax = 4 * 1024 * 1024;

/**
 * Answers many requests of any tenants, each on its own; those by id take one read a tenant.
 *
 * @returns answers in the order of the requests: at least one, fewer than requested when they hold
 *   4 MiB
 */
export async function readDocuments(
  deps: BatchGetPublishedDocumentsDeps,
  questions: readonly DocumentQuestion[],
  signal: AbortSignal,
): Promise<(DocumentAnswer | DomainError)[]> {
  const find = await findAhead(deps.publications, questions, signal);
  const publications: LinkedPublicationReader = {
    find,
    findVisible: (...request) => deps.publications.findVisible(...request),
  };
  const answers: (DocumentAnswer | DomainError)[] = [];
  let bytes = 0;
  for (const { tenantId, name, ...request } of questions) {
    const answer = await readDocument({ publications, slugs: deps.slugs }, tenantId, name, request, signal).catch(
      expected,
    );
    if (!(answer instanceof DomainError)) bytes += answer.documentJson.length + answer.includedJson.length;
    if (answers.length > 0 && bytes > bytesMax) break;
    answers.push(answer);
  }
  return answers;
}

/** Reads all ids of a tenant together; those that did not fit are read when they are answered. */
async function findAhead(
  publications: BatchGetPublishedDocumentsDeps["publications"],
  questions: readonly DocumentQuestion[],
  signal: AbortSignal,
): Promise<PublicationReader["find"]> {
  const ofTenant = Map.groupBy(questions, ({ tenantId }) => tenantId);
  const looks = Array.from(ofTenant, async ([tenantId, asked]) => {
    const ids = new Set(asked.flatMap(({ name }) => ("documentId" in name ? [name.documentId] : [])));
    if (ids.size === 0) return [tenantId, new Map<string, never>(), ids] as const;
    const { states, complete } = await publications.findAll(tenantId, [...ids], bytesMax, signal);
    return [tenantId, new Map(states.map((state) => [state.documentId, state])), complete ? ids : new Set()] as const;
  });
  const found = new Map((await Promise.all(looks)).map(([tenantId, states, known]) => [tenantId, { states, known }]));
  return async (tenantId, documentId, ...rest) => {
    const { states, known } = found.get(tenantId) ?? {};
    const state = states?.get(documentId);
    return state || known?.has(documentId) ? state : publications.find(tenantId, documentId, ...rest);
  };
}

function expected(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  throw error;
}

import { DomainError } from "@vidimus/kit/errors";
import { type DocumentAnswer, type DocumentDeps, type DocumentName, readDocument } from "./read-document.ts";

/** A reader's question about one document. */
export interface DocumentQuestion {
  readonly tenantId: string;
  readonly name: DocumentName;
  readonly includeLinks: boolean;
  readonly ifNoneMatch: string;
}

const bytesMax = 4 * 1024 * 1024;

/**
 * Answers many questions of any tenants, those by id with one look a tenant. Each is answered alone.
 *
 * @returns answers in the order of the questions: at least one, fewer than asked for when they hold 4 MiB
 */
export async function readDocuments(
  deps: DocumentDeps,
  questions: readonly DocumentQuestion[],
  signal: AbortSignal,
): Promise<(DocumentAnswer | DomainError)[]> {
  const find = await findAhead(deps, questions, signal);
  const answers: (DocumentAnswer | DomainError)[] = [];
  let bytes = 0;
  for (const { tenantId, name, ...request } of questions) {
    const answer = await readDocument({ ...deps, find }, tenantId, name, request, signal).catch(expected);
    if (!(answer instanceof DomainError)) bytes += answer.documentJson.length + answer.includedJson.length;
    if (answers.length > 0 && bytes > bytesMax) break;
    answers.push(answer);
  }
  return answers;
}

/** Looks once for all ids of a tenant; what did not fit is looked for when its turn comes. */
async function findAhead(
  deps: DocumentDeps,
  questions: readonly DocumentQuestion[],
  signal: AbortSignal,
): Promise<DocumentDeps["find"]> {
  const ofTenant = Map.groupBy(questions, ({ tenantId }) => tenantId);
  const looks = Array.from(ofTenant, async ([tenantId, asked]) => {
    const ids = new Set(asked.flatMap(({ name }) => ("documentId" in name ? [name.documentId] : [])));
    if (ids.size === 0) return [tenantId, new Map<string, never>(), ids] as const;
    const { states, complete } = await deps.findAll(tenantId, [...ids], bytesMax, signal);
    return [tenantId, new Map(states.map((state) => [state.documentId, state])), complete ? ids : new Set()] as const;
  });
  const found = new Map((await Promise.all(looks)).map(([tenantId, states, known]) => [tenantId, { states, known }]));
  return async (tenantId, documentId, ...rest) => {
    const { states, known } = found.get(tenantId) ?? {};
    const state = states?.get(documentId);
    return state || known?.has(documentId) ? state : deps.find(tenantId, documentId, ...rest);
  };
}

function expected(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  throw error;
}

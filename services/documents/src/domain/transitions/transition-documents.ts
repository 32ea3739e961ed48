import { DomainError } from "@vidimus/kit/errors";
import { type DocumentValue, parsePart } from "../document/assemble-document.ts";
import type { Actor, DocumentParts, Head, LastPublished } from "../document/document.ts";
import { isJsonObject } from "../json/json-value.ts";
import { type Chosen, chooseTransition } from "../workflow/choose-transition.ts";
import type { Guard, WorkflowDefinition } from "../workflow/definition.ts";
import { checkGuards } from "../workflow/check-guards.ts";
import { planTransition, type TransitionPlan } from "../workflow/plan-transition.ts";
import type { PublicationChecks } from "./publication-checks.ts";
import { publicationKeys } from "./publication-keys.ts";
import type { Changes } from "./changes.ts";
import { sealSnapshot } from "../snapshots/seal-snapshot.ts";
import { SlugTable } from "./slug-table.ts";
import type { TransitionTransaction } from "./transition-transaction.ts";

/** A requested transition of one document. */
export interface DocumentTransition {
  readonly documentId: string;
  /** Name of the transition. */
  readonly name: string;
  /** The version the caller saw. */
  readonly expectedVersion: number;
  readonly by: Actor;
}

/** The state of a document after a transition. */
export interface Transitioned {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly status: string;
  /** Of the snapshot the transition made; 0 when it made none. */
  readonly sequence: number;
  /** Set when the transition changed what readers see. */
  readonly updatedAt?: Date;
}

/** The result of one requested transition; undefined when it is left to the next transaction. */
export type TransitionOutcome = Transitioned | DomainError | undefined;

/** Types and workflows of the documents, beside the transaction. */
export interface TransitionDocumentsDeps {
  readonly checks: Pick<PublicationChecks, "violations">;
  /**
   * Definition of a workflow version that documents were stamped with: `at` of
   * `workflow/workflow-registry.ts`.
   */
  workflow(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
  now(): Date;
}

/** Most bytes of documents in one transaction. */
const bytesMax = 4 * 1024 * 1024;

/** A request that no check has refused so far. */
interface Attempt {
  readonly request: DocumentTransition;
  readonly head: Head;
  readonly chosen: Chosen;
  readonly plan: TransitionPlan;
}

/** An attempt with the version that it acts on. */
interface Loaded extends Attempt {
  readonly parts: DocumentParts;
  /** Content is parsed only where it is checked. */
  readonly value: Pick<DocumentValue, "links" | "meta">;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly writer: string;
  readonly schemaGeneration: number;
  readonly slug: string | undefined;
}

/**
 * Takes documents of one tenant through transitions in one transaction, each document at most once.
 * Each request succeeds or fails on its own: all checks come before the first write, since one
 * failed write would undo the whole transaction.
 *
 * @returns one outcome a request, in order
 */
export async function transitionDocuments(
  deps: TransitionDocumentsDeps,
  transaction: TransitionTransaction,
  tenantId: string,
  requests: readonly DocumentTransition[],
): Promise<TransitionOutcome[]> {
  const outcomes = new Map<string, TransitionOutcome>();
  const attempts = await chooseAll(deps, transaction, tenantId, requests, outcomes);
  // The clock is not locked when every transition is refused.
  if (attempts.length > 0) await transitionChosen(deps, transaction, tenantId, attempts, outcomes);
  return requests.map(({ documentId }) => outcomes.get(documentId));
}

/**
 * A tick of the tenant's clock makes readers' cached pages stale, so only transitions that readers
 * see take one. When all of those are refused after the tick, the transaction is rolled back, and
 * its other transitions are left to the next one.
 */
async function transitionChosen(
  deps: TransitionDocumentsDeps,
  transaction: TransitionTransaction,
  tenantId: string,
  attempts: readonly Attempt[],
  outcomes: Map<string, TransitionOutcome>,
): Promise<void> {
  const types = typesTouched(attempts);
  const at = types.size > 0 ? await transaction.tick(types) : deps.now();
  const loaded = await loadAll(transaction, attempts);
  const slugs = await readSlugs(transaction, loaded);
  const changes: Changes = { heads: [], history: [], publications: [], snapshots: [], retiredSlugs: [] };
  for (const attempt of loaded) {
    const outcome = await refusal(async () => {
      await check(deps, tenantId, attempt, slugs, at);
      return apply(attempt, slugs, at, changes);
    });
    outcomes.set(attempt.request.documentId, outcome);
  }
  changes.retiredSlugs = slugs.retired();
  if (types.size > 0 && changes.publications.length === 0) {
    for (const { documentId } of changes.heads) outcomes.delete(documentId);
  } else if (changes.heads.length > 0) await transaction.write(changes);
}

async function chooseAll(
  deps: TransitionDocumentsDeps,
  transaction: TransitionTransaction,
  tenantId: string,
  requests: readonly DocumentTransition[],
  outcomes: Map<string, TransitionOutcome>,
): Promise<Attempt[]> {
  const ids = requests.map(({ documentId }) => documentId);
  const { heads, complete } = await transaction.readHeads(ids, bytesMax);
  const headOf = new Map(heads.map((head) => [head.documentId, head]));
  const attempts: Attempt[] = [];
  for (const request of requests) {
    const head = headOf.get(request.documentId);
    if (!head) {
      if (complete) outcomes.set(request.documentId, notFound(request.documentId));
      continue;
    }
    const chosen = await refusal(async () => {
      const definition = await deps.workflow(tenantId, head.workflowId, head.workflowVersion);
      const { name, expectedVersion, by } = request;
      return chooseTransition(definition, standing(head), { name, expectedVersion, role: by.role });
    });
    if (chosen instanceof DomainError) outcomes.set(request.documentId, chosen);
    else attempts.push({ request, head, chosen, plan: planTransition(standing(head), chosen) });
  }
  return attempts;
}

/**
 * Types whose readers will see a change. A type whose transitions are all refused later is ticked
 * too: its readers get a 200 where a 304 would have done.
 */
function typesTouched(attempts: readonly Attempt[]): Set<string> {
  return new Set(attempts.flatMap(({ head, plan }) => (plan.lastPublished ? [head.type] : [])));
}

/** A published version that is no longer the head is in the collection of versions. */
async function loadAll(transaction: TransitionTransaction, attempts: readonly Attempt[]): Promise<Loaded[]> {
  const older = attempts.filter(({ head, chosen }) => chosen.subject.version !== head.version);
  const references = older.map(({ head, chosen }) => ({
    documentId: head.documentId,
    version: chosen.subject.version,
  }));
  const versions = references.length === 0 ? [] : await transaction.readVersions(references);
  const versionOf = new Map(versions.map((version) => [version.documentId, version]));
  return attempts.map((attempt) => {
    const { head, chosen } = attempt;
    if (chosen.subject.version === head.version) return load(attempt, head, head.changedBy);
    const version = versionOf.get(head.documentId);
    if (!version) throw new TypeError(`version ${chosen.subject.version} of document ${head.documentId} is not there`);
    return load(attempt, version, version.createdBy);
  });
}

function load(attempt: Attempt, parts: DocumentParts & { schemaGeneration: number }, writer: Actor): Loaded {
  const value = { links: parsePart(parts.links), meta: parsePart(parts.meta) };
  const meta = isJsonObject(value.meta) ? value.meta : {};
  const { slug } = publicationKeys(attempt.head.type, value);
  const { schemaGeneration } = parts;
  return { ...attempt, parts, value, meta, writer: writer.actor, schemaGeneration, slug };
}

/** The slugs that will be taken, as far as others hold them, and those of the documents themselves. */
async function readSlugs(transaction: TransitionTransaction, loaded: readonly Loaded[]): Promise<SlugTable> {
  const published = loaded.filter(({ chosen }) => chosen.to === "published");
  const named = published.flatMap(({ head, slug }) => (slug === undefined ? [] : [{ type: head.type, slug }]));
  const own = loaded.flatMap(({ head: { type, documentId, lastPublished } }) => {
    return lastPublished?.slug === undefined ? [] : [{ type, slug: lastPublished.slug, documentId }];
  });
  const held = named.length === 0 ? [] : await transaction.readSlugs(named);
  return new SlugTable([...held, ...own]);
}

async function check(
  deps: TransitionDocumentsDeps,
  tenantId: string,
  { request, head, chosen, parts, value, meta, writer, schemaGeneration, slug }: Loaded,
  slugs: SlugTable,
  now: Date,
): Promise<void> {
  await checkGuards(guardsOf(chosen), {
    actor: request.by.actor,
    writer,
    everPublished: head.lastPublished !== undefined,
    now,
    meta,
    links: Array.isArray(value.links) ? value.links : [],
    violations: () => {
      const { version } = chosen.subject;
      return deps.checks.violations(tenantId, { ...request, version, type: head.type, schemaGeneration, parts });
    },
    slugHolder: () => (slug === undefined ? undefined : slugs.holder(head.type, slug, head.documentId)),
  });
}

/**
 * No two published documents of a type share a slug, even if the workflow does not ask for it:
 * readers rely on it.
 */
function guardsOf({ transition, to }: Chosen): readonly Guard[] {
  const { guards } = transition;
  if (to !== "published" || guards.some(({ kind }) => kind === "slugFree")) return guards;
  return [...guards, { kind: "slugFree" }];
}

function apply(loaded: Loaded, slugs: SlugTable, now: Date, changes: Changes): Transitioned {
  const { request, head, plan } = loaded;
  const lastPublished = plan.lastPublished && publish(loaded, plan.lastPublished, slugs, now, changes);
  const { documentId, type } = head;
  // The clock of this process may be behind another's; history must still be in order.
  const at = new Date(Math.max(now.getTime(), head.changedAt.getTime() + 1));
  changes.heads.push({
    documentId,
    state: { status: plan.headStatus, changedAt: at, ...(lastPublished ? { lastPublished } : {}) },
  });
  const { version, from, to } = plan;
  changes.history.push({ documentId, at, by: request.by, transition: request.name, version, from, to });
  const transitioned = { documentId, type, version, status: to };
  return lastPublished
    ? { ...transitioned, sequence: lastPublished.sequence, updatedAt: now }
    : { ...transitioned, sequence: 0 };
}

/** Seals a snapshot, and writes it or a tombstone as the publication. */
function publish(
  { head, parts, value, slug }: Loaded,
  { version, status, snapshot }: NonNullable<TransitionPlan["lastPublished"]>,
  slugs: SlugTable,
  updatedAt: Date,
  changes: Changes,
): LastPublished {
  const { documentId, type } = head;
  const sequence = (head.lastPublished?.sequence ?? 0) + 1;
  const sealed = sealSnapshot(parts, { documentId, type, version, status: snapshot, updatedAt });
  const { bytes, sha256, linksStart, linksEnd } = sealed;
  const row = { documentId, type, version, sequence, updatedAt };
  changes.snapshots.push({ ...row, status: snapshot, bytes, sha256 });
  const isPublished = snapshot === "usable";
  slugs.claim(type, isPublished ? slug : undefined, documentId);
  if (isPublished) {
    changes.publications.push({ ...row, content: { ...publicationKeys(type, value), bytes, linksStart, linksEnd } });
  } else changes.publications.push(row);
  return { version, status, sequence, updatedAt, ...(isPublished && slug !== undefined ? { slug } : {}) };
}

function standing({ version, status, lastPublished }: Head) {
  return { head: { version, status }, ...(lastPublished ? { lastPublished } : {}) };
}

function notFound(documentId: string): DomainError {
  return new DomainError("not_found", `there is no document ${documentId}`);
}

async function refusal<T>(stage: () => T | Promise<T>): Promise<T | DomainError> {
  try {
    return await stage();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

import { DomainError } from "@vidimus/kit/errors";
import type { Actor } from "../document/document.ts";
import type { SiteClaim } from "../sites/site-claims.ts";
import { chooseTransition } from "../workflow/choose-transition.ts";
import type { WorkflowDefinition } from "../workflow/definition.ts";
import { planTransition } from "../workflow/plan-transition.ts";
import { standingOf } from "../workflow/standing.ts";
import { applyAll, type ApplyDeps, applyPossible, claimingSite } from "./apply-transitions.ts";
import { type Attempt, type TransitionRequest, type Loaded, refusal, type TransitionOutcome } from "./attempt.ts";
import type { Slug, StoredVersion } from "./changes.ts";
import { loadVersion } from "./transition-guards.ts";
import { answerRepeated } from "./repeated-transitions.ts";
import type { TransitionTransaction } from "./transition-transaction.ts";

export interface TransitionBatchDeps extends ApplyDeps {
  /** `at` of `workflow/workflow-registry.ts`. */
  workflow(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
  now(): Date;
}

/** Most bytes of heads that one transaction reads. */
const bytesMax = 4 * 1024 * 1024;

/**
 * Takes documents of one tenant through transitions in one transaction, each document at most once.
 * Each request succeeds or fails on its own: nothing but the clock is written before all checks are
 * done, because one failed write would undo the whole transaction.
 *
 * @returns one outcome for each request, in order; undefined for requests that are left to the next
 * transaction
 */
export async function transitionBatch(
  deps: TransitionBatchDeps,
  transaction: TransitionTransaction,
  tenantId: string,
  requests: readonly TransitionRequest[],
): Promise<TransitionOutcome[]> {
  const outcomes = new Map<string, TransitionOutcome>();
  const attempts = await chooseAll(deps, transaction, tenantId, requests, outcomes);
  if (transaction.followsDuplicate) {
    const chosen = attempts.map(({ request }) => request);
    await answerRepeated(transaction, chosen, outcomes);
  }
  const others = attempts.filter(({ request }) => !outcomes.has(request.documentId));
  if (others.length > 0) await transitionChosen(deps, transaction, tenantId, others, outcomes);
  const refused = requests.filter(({ documentId }) => outcomes.get(documentId) instanceof DomainError);
  await answerRepeated(transaction, refused, outcomes);
  return requests.map(({ documentId }) => outcomes.get(documentId));
}

/**
 * A tick of the tenant's clock invalidates readers' cached pages, so only transitions that readers
 * see take one. When all of these are refused after the tick, the transaction is rolled back, and
 * its other transitions are left to the next one.
 */
async function transitionChosen(
  deps: TransitionBatchDeps,
  transaction: TransitionTransaction,
  tenantId: string,
  attempts: readonly Attempt[],
  outcomes: Map<string, TransitionOutcome>,
): Promise<void> {
  const types = typesTouched(attempts);
  const at = types.size > 0 ? await transaction.tick(types) : deps.now();
  const loaded = await loadAll(transaction, attempts);
  const held = await readSlugs(transaction, loaded);
  const standing = await readSites(transaction, loaded);
  const applyTo = (possible: readonly Loaded[]) => applyAll(deps, tenantId, possible, { held, now: at });
  const { applied, changes } = await applyPossible(loaded, standing, applyTo);
  for (const [documentId, outcome] of applied) outcomes.set(documentId, outcome);
  if (types.size > 0 && changes.publications.length === 0) {
    for (const { documentId } of changes.heads) outcomes.delete(documentId);
  } else if (changes.heads.length > 0) await transaction.write(changes);
}

async function chooseAll(
  deps: TransitionBatchDeps,
  transaction: TransitionTransaction,
  tenantId: string,
  requests: readonly TransitionRequest[],
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
    const attempt = await refusal(async () => {
      const definition = await deps.workflow(tenantId, head.workflowId, head.workflowVersion);
      const { name, expectedVersion, by } = request;
      const standing = standingOf(head);
      const chosen = chooseTransition(definition, standing, { name, expectedVersion, role: by.role });
      return { request, head, definition, chosen, plan: planTransition(standing, chosen) };
    });
    if (attempt instanceof DomainError) outcomes.set(request.documentId, attempt);
    else attempts.push(attempt);
  }
  return attempts;
}

/**
 * Types whose readers may see a change. When all transitions of a type are refused later, its tick
 * is needless: readers then get a 200 where a 304 would have been enough.
 */
function typesTouched(attempts: readonly Attempt[]): Set<string> {
  return new Set(attempts.flatMap(({ head, plan }) => (plan.lastPublished ? [head.type] : [])));
}

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
    const loaded = (parts: typeof head | StoredVersion, writer: Actor) => {
      return { ...attempt, version: loadVersion(head.type, parts, writer) };
    };
    if (chosen.subject.version === head.version) return loaded(head, head.changedBy);
    const version = versionOf.get(head.documentId);
    if (!version) throw new TypeError(`version ${chosen.subject.version} of document ${head.documentId} is not there`);
    return loaded(version, version.createdBy);
  });
}

async function readSlugs(transaction: TransitionTransaction, loaded: readonly Loaded[]): Promise<Slug[]> {
  const published = loaded.filter(({ chosen }) => chosen.to === "published");
  const named = published.flatMap(({ head: { type }, version: { keys } }) =>
    keys.slug === undefined ? [] : [{ type, slug: keys.slug }],
  );
  const own = loaded.flatMap(({ head: { type, documentId, lastPublished } }) => {
    return lastPublished?.slug === undefined ? [] : [{ type, slug: lastPublished.slug, documentId }];
  });
  const held = named.length === 0 ? [] : await transaction.readSlugs(named);
  return [...held, ...own];
}

async function readSites(transaction: TransitionTransaction, loaded: readonly Loaded[]): Promise<SiteClaim[]> {
  const published = loaded.filter(({ chosen }) => chosen.to === "published");
  const claims = published.flatMap((attempt) => claimingSite(attempt).map(({ claim }) => claim));
  return claims.length === 0 ? [] : transaction.readSites(claims);
}

function notFound(documentId: string): DomainError {
  return new DomainError("not_found", `there is no document ${documentId}`);
}

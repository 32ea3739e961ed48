import { DomainError } from "@vidimus/kit/errors";
import type { Actor, Head, LastPublished } from "../document/document.ts";
import { chooseTransition } from "../workflow/choose-transition.ts";
import type { WorkflowDefinition } from "../workflow/definition.ts";
import type { Chosen } from "../workflow/legal-transitions.ts";
import { planTransition, type TransitionPlan } from "../workflow/plan-transition.ts";
import { standingOf } from "../workflow/standing.ts";
import { checkTransition, hostsOf, type LoadedVersion, loadVersion, refuseSite } from "./check-transition.ts";
import type { PublicationChecks } from "./publication-checks.ts";
import { claimOf, type ClaimingSite, judgeSites, type SiteClaim } from "../sites/site-claims.ts";
import type { Changes, Slug, StoredVersion } from "./changes.ts";
import { answerRepeated } from "./repeated-transitions.ts";
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
  /** Names the request, so that a repetition is answered as the first; absent when nobody named it. */
  readonly requestToken?: string;
  /** W3C Trace Context of the call, when its trace is recorded. */
  readonly traceparent?: string;
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
  /** Of the request. */
  readonly traceparent?: string;
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
  /** Every new snapshot has a higher sequence: `store/sequence-floor.ts`. 0 unless a restore raised it. */
  readonly sequenceFloor: number;
}

/** Most bytes of documents in one transaction. */
const bytesMax = 4 * 1024 * 1024;

/** A request that no check has refused so far. */
interface Attempt {
  readonly request: DocumentTransition;
  readonly head: Head;
  readonly definition: WorkflowDefinition;
  readonly chosen: Chosen;
  readonly plan: TransitionPlan;
}

/** An attempt with the version that it acts on. */
interface Loaded extends Attempt {
  readonly version: LoadedVersion;
}

/** What the attempts of a transaction share while they are applied. */
interface ApplyContext extends Pick<TransitionDocumentsDeps, "sequenceFloor"> {
  readonly slugs: SlugTable;
  readonly now: Date;
  readonly changes: Changes;
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
  if (transaction.followsDuplicate) await answerRepeated(transaction, requests, outcomes);
  const others = requests.filter(({ documentId }) => !outcomes.has(documentId));
  const attempts = await chooseAll(deps, transaction, tenantId, others, outcomes);
  // The clock is not locked when every transition is refused.
  if (attempts.length > 0) await transitionChosen(deps, transaction, tenantId, attempts, outcomes);
  const refused = others.filter(({ documentId }) => outcomes.get(documentId) instanceof DomainError);
  if (!transaction.followsDuplicate) await answerRepeated(transaction, refused, outcomes);
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
  const held = await readSlugs(transaction, loaded);
  const standing = await readSites(transaction, loaded);
  const applyTo = (possible: readonly Loaded[]) => applyAll(deps, tenantId, possible, { held, now: at });
  const { applied, changes } = await applyPossible(loaded, standing, applyTo);
  for (const [documentId, outcome] of applied) outcomes.set(documentId, outcome);
  if (types.size > 0 && changes.publications.length === 0) {
    for (const { documentId } of changes.heads) outcomes.delete(documentId);
  } else if (changes.heads.length > 0) await transaction.write(changes);
}

/** What transitions make of documents, and everything that has to be written for it. */
interface Applied {
  readonly applied: Map<string, Transitioned | DomainError>;
  readonly changes: Changes;
}

/**
 * Applies what can stand. A site may take what another one gives up in the same batch, before or after
 * it, so sites are judged by the state after the batch; those that fail are left out, and the rest is
 * applied again, since what they would have given up stays taken.
 */
async function applyPossible(
  loaded: readonly Loaded[],
  standing: readonly SiteClaim[],
  applyTo: (possible: readonly Loaded[]) => Promise<Applied>,
): Promise<Applied> {
  const refused = new Map<string, DomainError>();
  for (;;) {
    const result = await applyTo(loaded.filter(({ head }) => !refused.has(head.documentId)));
    const changed = new Set(result.changes.publications.map(({ documentId }) => documentId));
    const sites = loaded.filter(({ head, chosen }) => chosen.to === "published" && changed.has(head.documentId));
    const faults = judgeSites(standing, changed, sites.flatMap(claimingSite));
    for (const attempt of sites) {
      const found = faults.get(attempt.head.documentId);
      if (found) refused.set(attempt.head.documentId, refuseSite(attempt, found));
    }
    if (faults.size > 0) continue;
    for (const [documentId, error] of refused) result.applied.set(documentId, error);
    return result;
  }
}

function claimingSite({ head: { type, documentId }, version }: Loaded): ClaimingSite[] {
  const claim = claimOf(type, documentId, version.keys);
  return claim ? [{ claim, hosts: hostsOf(version) }] : [];
}

/** Applies transitions in order. */
async function applyAll(
  deps: TransitionDocumentsDeps,
  tenantId: string,
  loaded: readonly Loaded[],
  { held, now }: { readonly held: readonly Slug[]; readonly now: Date },
): Promise<Applied> {
  const slugs = new SlugTable(held);
  const changes: Changes = { heads: [], history: [], publications: [], snapshots: [], retiredSlugs: [] };
  const context = { slugs, now, changes, sequenceFloor: deps.sequenceFloor };
  const applied = new Map<string, Transitioned | DomainError>();
  for (const attempt of loaded) {
    const outcome = await refusal(async () => {
      await check(deps, tenantId, attempt, slugs, now);
      return apply(attempt, context);
    });
    applied.set(attempt.request.documentId, outcome);
  }
  changes.retiredSlugs = slugs.retired();
  return { applied, changes };
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
    const loaded = (parts: typeof head | StoredVersion, writer: Actor) => {
      return { ...attempt, version: loadVersion(head.type, parts, writer) };
    };
    if (chosen.subject.version === head.version) return loaded(head, head.changedBy);
    const version = versionOf.get(head.documentId);
    if (!version) throw new TypeError(`version ${chosen.subject.version} of document ${head.documentId} is not there`);
    return loaded(version, version.createdBy);
  });
}

/** The slugs that will be taken, as far as others hold them, and those of the documents themselves. */
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

/** The published sites that have what sites of the batch claim. */
async function readSites(transaction: TransitionTransaction, loaded: readonly Loaded[]): Promise<SiteClaim[]> {
  const published = loaded.filter(({ chosen }) => chosen.to === "published");
  const claims = published.flatMap((attempt) => claimingSite(attempt).map(({ claim }) => claim));
  return claims.length === 0 ? [] : transaction.readSites(claims);
}

function check(
  deps: TransitionDocumentsDeps,
  tenantId: string,
  { request, head, definition, chosen, version }: Loaded,
  slugs: SlugTable,
  now: Date,
): Promise<void> {
  const { by } = request;
  const { schemaGeneration, parts, keys } = version;
  const { slug } = keys;
  const { documentId, type } = head;
  const { version: number } = chosen.subject;
  return checkTransition({
    head,
    definition,
    chosen,
    version,
    by,
    now,
    violations: () => deps.checks.violations(tenantId, { documentId, version: number, type, schemaGeneration, parts }),
    slugHolder: () => (slug === undefined ? undefined : slugs.holder(type, slug, documentId)),
    // Judged with the whole batch.
    siteConflicts: () => [],
  });
}

function apply(loaded: Loaded, context: ApplyContext): Transitioned {
  const { request, head, plan } = loaded;
  const { now, changes } = context;
  const lastPublished = plan.lastPublished && publish(loaded, plan.lastPublished, context);
  const { documentId, type } = head;
  // The clock of this process may be behind another's; history must still be in order.
  const at = new Date(Math.max(now.getTime(), head.changedAt.getTime() + 1));
  changes.heads.push({
    documentId,
    state: { status: plan.headStatus, changedAt: at, ...(lastPublished ? { lastPublished } : {}) },
  });
  const { version, from, to } = plan;
  const entry = { documentId, at, by: request.by, transition: request.name };
  const { requestToken: token } = request;
  const answer = lastPublished ? { sequence: lastPublished.sequence, updatedAt: now } : { sequence: 0 };
  changes.history.push({ ...entry, version, from, to, ...(token ? { request: { token, type, ...answer } } : {}) });
  if (version !== head.version && plan.headStatus !== head.status) {
    changes.history.push({ ...entry, version: head.version, from: head.status, to: plan.headStatus });
  }
  return { documentId, type, version, status: to, ...answer, ...traceOf(request) };
}

function traceOf({ traceparent }: DocumentTransition): Pick<DocumentTransition, "traceparent"> {
  return traceparent === undefined ? {} : { traceparent };
}

/** Seals a snapshot, and writes it or a tombstone as the publication. */
function publish(
  { request, head, version: { parts, keys } }: Loaded,
  { version, status, snapshot }: NonNullable<TransitionPlan["lastPublished"]>,
  { slugs, now: updatedAt, changes, sequenceFloor }: ApplyContext,
): LastPublished {
  const { documentId, type } = head;
  const sequence = Math.max(head.lastPublished?.sequence ?? 0, sequenceFloor) + 1;
  const sealed = sealSnapshot(parts, { documentId, type, version, status: snapshot, updatedAt });
  const { bytes, sha256, linksStart, linksEnd } = sealed;
  const row = { documentId, type, version, sequence, updatedAt };
  changes.snapshots.push({ ...row, status: snapshot, bytes, sha256, ...traceOf(request) });
  const isPublished = snapshot === "usable";
  const slug = isPublished ? keys.slug : undefined;
  slugs.claim(type, slug, documentId);
  const content = isPublished ? { content: { keys, bytes, linksStart, linksEnd } } : {};
  changes.publications.push({ ...row, isFirst: head.lastPublished === undefined, ...content });
  return { version, status, sequence, updatedAt, ...(slug === undefined ? {} : { slug }) };
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

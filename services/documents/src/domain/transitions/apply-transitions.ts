import type { DomainError } from "@vidimus/kit/errors";
import { claimOf, type ClaimingSite, checkSites, type SiteClaim } from "../sites/site-claims.ts";
import { type Loaded, refusal, traceOf, type TransitionResult } from "./attempt.ts";
import type { Changes, Slug } from "./changes.ts";
import { checkTransitionGuards, hostsOf, refuseSite } from "./transition-guards.ts";
import type { PublicationChecks } from "./publication-checks.ts";
import { publish, type PublishBatch } from "./publish.ts";
import { SlugTable } from "./slug-table.ts";

export interface ApplyDeps {
  readonly checks: Pick<PublicationChecks, "violations">;
  /**
   * New snapshots get higher sequences than this: `store/sequence-floor.ts`. 0 unless a restore
   * raised it.
   */
  readonly sequenceFloor: number;
}

interface ApplyBatch extends PublishBatch {
  readonly changes: Changes;
}

interface Applied {
  /** From document id to the result of its transition, or its refusal. */
  readonly applied: Map<string, TransitionResult | DomainError>;
  readonly changes: Changes;
}

/**
 * A site may claim a host that another site of the batch releases, whichever comes first in the
 * batch, so sites are checked against the state after the batch. When some are refused, the other
 * transitions are applied again without them, because what a refused site would have released is
 * not free.
 */
export async function applyPossible(
  loaded: readonly Loaded[],
  standing: readonly SiteClaim[],
  applyTo: (possible: readonly Loaded[]) => Promise<Applied>,
): Promise<Applied> {
  const refused = new Map<string, DomainError>();
  for (;;) {
    const result = await applyTo(loaded.filter(({ head }) => !refused.has(head.documentId)));
    const changed = new Set(result.changes.publications.map(({ documentId }) => documentId));
    const sites = loaded.filter(({ head, chosen }) => chosen.to === "published" && changed.has(head.documentId));
    const faults = checkSites(standing, changed, sites.flatMap(claimingSite));
    for (const attempt of sites) {
      const found = faults.get(attempt.head.documentId);
      if (found) refused.set(attempt.head.documentId, refuseSite(attempt, found));
    }
    if (faults.size > 0) continue;
    for (const [documentId, error] of refused) result.applied.set(documentId, error);
    return result;
  }
}

/** The claim of a transition that publishes a site; none for documents of other types. */
export function claimingSite({ head: { type, documentId }, version }: Loaded): ClaimingSite[] {
  const claim = claimOf(type, documentId, version.keys);
  return claim ? [{ claim, hosts: hostsOf(version) }] : [];
}

/** Applies transitions in order. A refused one leaves no changes. */
export async function applyAll(
  deps: ApplyDeps,
  tenantId: string,
  loaded: readonly Loaded[],
  { held, now }: { readonly held: readonly Slug[]; readonly now: Date },
): Promise<Applied> {
  const slugs = new SlugTable(held);
  const changes: Changes = { heads: [], history: [], publications: [], snapshots: [], retiredSlugs: [] };
  const batch = { slugs, now, changes, sequenceFloor: deps.sequenceFloor };
  const applied = new Map<string, TransitionResult | DomainError>();
  for (const attempt of loaded) {
    const outcome = await refusal(async () => {
      await check(deps, tenantId, attempt, slugs, now);
      return apply(attempt, batch);
    });
    applied.set(attempt.request.documentId, outcome);
  }
  changes.retiredSlugs = slugs.retired();
  return { applied, changes };
}

function check(
  deps: ApplyDeps,
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
  return checkTransitionGuards({
    head,
    definition,
    chosen,
    version,
    by,
    now,
    violations: () => deps.checks.violations(tenantId, { documentId, version: number, type, schemaGeneration, parts }),
    slugHolder: () => (slug === undefined ? undefined : slugs.holder(type, slug, documentId)),
    // `applyPossible` checks conflicts of sites for the whole batch.
    siteConflicts: () => [],
  });
}

function apply(loaded: Loaded, batch: ApplyBatch): TransitionResult {
  const { request, head, plan } = loaded;
  const { now, changes } = batch;
  const lastPublished = plan.lastPublished && publish(loaded, plan.lastPublished, batch);
  const { documentId, type } = head;
  // Another process with a faster clock may have written the head; history must still be in order.
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

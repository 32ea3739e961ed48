import { DomainError } from "@vidimus/kit/errors";
import type { Actor, Head } from "../document/document.ts";
import { requireHead } from "../document/require-head.ts";
import { type GetDocumentVersionDeps, getVersion } from "../editing/document-versions.ts";
import type { TypeRegistry } from "../types/document-type.ts";
import type { WorkflowDefinition } from "../workflow/definition.ts";
import { type Chosen, legalTransitions } from "../workflow/legal-transitions.ts";
import { mayAct } from "../workflow/roles.ts";
import { standingOf } from "../workflow/standing.ts";
import { claimOf, conflictsWith, type SiteClaim } from "../sites/site-claims.ts";
import { checkTransitionGuards, guardsOf, hostsOf, type LoadedVersion, loadVersion } from "./transition-guards.ts";

export interface ListTransitionsDeps extends GetDocumentVersionDeps {
  types: Pick<TypeRegistry, "at">;
  publications: {
    /** Id of the published document that has the slug. */
    slugHolder(tenantId: string, type: string, slug: string, signal?: AbortSignal): Promise<string | undefined>;
    /**
     * Published sites that have one of the wanted hosts, and the primary site if that is wanted.
     */
    siteClaims(tenantId: string, wanted: SiteClaim, signal?: AbortSignal): Promise<SiteClaim[]>;
  };
  workflow(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
  now(): Date;
}

export interface AllowedTransition {
  readonly name: string;
  readonly version: number;
  readonly from: string;
  readonly to: string;
  readonly guards: readonly string[];
  /** Why a guard would refuse the transition now; absent when none would. */
  readonly refusal?: DomainError;
}

interface Allowed {
  readonly head: Head;
  readonly mayUpdate: boolean;
  readonly transitions: readonly AllowedTransition[];
}

/**
 * Lists the transitions that the role of `by` may take in the document's state, also those that a
 * guard refuses now. Throws `not_found`.
 */
export async function listTransitions(
  deps: ListTransitionsDeps,
  { tenantId, documentId }: { readonly tenantId: string; readonly documentId: string },
  by: Actor,
  signal?: AbortSignal,
): Promise<Allowed> {
  const options = signal ? { signal } : {};
  const head = await requireHead(deps.documents, tenantId, documentId, options);
  const definition = await deps.workflow(tenantId, head.workflowId, head.workflowVersion);
  const { status } = head;
  const isOpen = definition.states.get(status) !== "terminal";
  const transitions: AllowedTransition[] = [];
  for (const chosen of legalTransitions(definition, standingOf(head), by.role)) {
    const refusal = await refusalOf(deps, { head, definition, chosen, by }, signal);
    const { transition, subject } = chosen;
    transitions.push({
      name: transition.name,
      version: subject.version,
      from: subject.status,
      to: transition.to,
      guards: guardsOf(chosen, head.type).map(({ kind }) => kind),
      ...(refusal ? { refusal } : {}),
    });
  }
  return { head, mayUpdate: isOpen && mayAct(definition, by.role, definition.edit.get(status)), transitions };
}

interface Candidate {
  readonly head: Head;
  readonly definition: WorkflowDefinition;
  readonly chosen: Chosen;
  readonly by: Actor;
}

async function refusalOf(
  deps: ListTransitionsDeps,
  candidate: Candidate,
  signal?: AbortSignal,
): Promise<DomainError | undefined> {
  if (guardsOf(candidate.chosen, candidate.head.type).length === 0) return undefined;
  const { head, chosen } = candidate;
  const { tenantId, documentId, type: name } = head;
  const version = await load(deps, head, chosen.subject.version, signal);
  try {
    await checkTransitionGuards({
      ...candidate,
      version,
      now: deps.now(),
      violations: async () => {
        const type = await deps.types.at(tenantId, name, version.schemaGeneration);
        return type.check({ parts: version.parts }, "publication", signal);
      },
      slugHolder: async () => {
        const { slug } = version.keys;
        if (slug === undefined) return undefined;
        const holder = await deps.publications.slugHolder(tenantId, name, slug, signal);
        return holder === documentId ? undefined : holder;
      },
      siteConflicts: async () => {
        const claim = claimOf(name, documentId, version.keys);
        if (!claim) return [];
        return conflictsWith(claim, await deps.publications.siteClaims(tenantId, claim, signal), hostsOf(version));
      },
    });
    return undefined;
  } catch (error) {
    if (error instanceof DomainError && error.kind === "failed_precondition") return error;
    throw error;
  }
}

async function load(
  deps: ListTransitionsDeps,
  head: Head,
  number: number,
  signal?: AbortSignal,
): Promise<LoadedVersion> {
  if (number === head.version) return loadVersion(head.type, head, head.changedBy);
  const { version } = await getVersion(deps, head, number, signal ? { signal } : {});
  return loadVersion(head.type, version, version.writtenBy);
}

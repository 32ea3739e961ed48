import type { DomainError, Violation } from "@vidimus/kit/errors";
import { type DocumentValue, parsePart } from "../document/assemble-document.ts";
import type { Actor, DocumentParts, Head } from "../document/document.ts";
import { isJsonObject, type JsonValue } from "../json/json-value.ts";
import { type PublicationKeys, readKeys } from "../published-reads/publication-keys.ts";
import { hostFaults } from "../sites/site-claims.ts";
import { siteType } from "../sites/site-type.ts";
import { checkGuards, guardFailed } from "../workflow/check-guards.ts";
import type { CheckedGuard, WorkflowDefinition } from "../workflow/definition.ts";
import { type Chosen, standingFacts } from "../workflow/legal-transitions.ts";
import { standingOf } from "../workflow/standing.ts";

/** The version that a transition acts on. */
export interface LoadedVersion {
  readonly parts: DocumentParts;
  /** Links and meta only: content is parsed when it is checked. */
  readonly value: Pick<DocumentValue, "links" | "meta">;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly writer: string;
  readonly schemaGeneration: number;
  readonly keys: PublicationKeys;
}

export function loadVersion(
  type: string,
  parts: DocumentParts & { readonly schemaGeneration: number },
  writer: Actor,
): LoadedVersion {
  const value = { links: parsePart(parts.links), meta: parsePart(parts.meta) };
  const meta = isJsonObject(value.meta) ? value.meta : {};
  const { schemaGeneration } = parts;
  return { parts, value, meta, writer: writer.actor, schemaGeneration, keys: readKeys(type, value) };
}

export function hostsOf({ value }: Pick<LoadedVersion, "value">): JsonValue | undefined {
  return isJsonObject(value.meta) ? value.meta["hosts"] : undefined;
}

interface GuardedTransition {
  readonly head: Head;
  readonly definition: WorkflowDefinition;
  readonly chosen: Chosen;
  readonly version: LoadedVersion;
  readonly by: Actor;
  readonly now: Date;
  /** See `GuardFacts`. */
  violations(): Promise<readonly Violation[]>;
  /** See `GuardFacts`. */
  slugHolder(): Promise<string | undefined> | string | undefined;
  /** See `GuardFacts.siteFaults`; invalid host names are not included. */
  siteConflicts(): Promise<readonly Violation[]> | readonly Violation[];
}

/**
 * @throws DomainError `failed_precondition` with reason `guard_failed`, whose metadata are `guard`
 * and those of `standingFacts`; what the functions of `transition` throw
 */
export async function checkTransitionGuards(transition: GuardedTransition): Promise<void> {
  const { head, definition, chosen, version, by, now } = transition;
  const standing = standingFacts(definition, standingOf(head), by.role, chosen.subject);
  await checkGuards(
    guardsOf(chosen, head.type),
    {
      actor: by.actor,
      writer: version.writer,
      everPublished: head.lastPublished !== undefined,
      now,
      meta: version.meta,
      links: Array.isArray(version.value.links) ? version.value.links : [],
      violations: transition.violations,
      slugHolder: transition.slugHolder,
      siteFaults: async () => [...hostFaults(head.type, version.meta), ...(await transition.siteConflicts())],
    },
    standing,
  );
}

/** The refusal of a site for conflicts that were found after its other checks. */
export function refuseSite(
  {
    head,
    definition,
    chosen,
    request,
  }: Pick<GuardedTransition, "head" | "definition" | "chosen"> & { request: { by: Actor } },
  violations: readonly Violation[],
): DomainError {
  const standing = standingFacts(definition, standingOf(head), request.by.role, chosen.subject);
  return guardFailed("siteFree", violations, standing);
}

/**
 * Every publication is also checked for a free slug, and that of a site for free hosts, whatever
 * guards the workflow names, because readers rely on unique slugs and hosts.
 */
export function guardsOf({ transition, to }: Chosen, type: string): readonly CheckedGuard[] {
  const { guards } = transition;
  if (to !== "published") return guards;
  const slug = guards.some(({ kind }) => kind === "slugFree") ? [] : [{ kind: "slugFree" } as const];
  return [...guards, ...slug, ...(type === siteType ? [{ kind: "siteFree" } as const] : [])];
}

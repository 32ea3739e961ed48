import { DomainError } from "@vidimus/kit/errors";
import { type DocumentValue, parseParts } from "../document/assemble-document.ts";
import type { Actor, DocumentParts, Head, Live } from "../document/document.ts";
import { isJsonObject } from "../json/json-value.ts";
import type { TypeRegistry } from "../types/document-type.ts";
import { type Chosen, chooseTransition } from "../workflow/choose-transition.ts";
import type { Guard, WorkflowDefinition } from "../workflow/definition.ts";
import { judgeGuards } from "../workflow/judge-guards.ts";
import { planTransition, type TransitionPlan } from "../workflow/plan-transition.ts";
import { publicationKeys } from "./publication-keys.ts";
import type { Changes } from "./publication.ts";
import { sealSnapshot } from "./seal-snapshot.ts";
import { SlugTable } from "./slug-table.ts";
import type { TransitionTransaction } from "./transition-transaction.ts";

/** One step of one document that somebody asks for. */
export interface Move {
  readonly documentId: string;
  /** Name of the transition. */
  readonly name: string;
  /** The version the caller saw. */
  readonly expectedVersion: number;
  readonly by: Actor;
}

/** Where a document stands after a transition. */
export interface Moved {
  readonly documentId: string;
  readonly version: number;
  readonly status: string;
  /** Of the snapshot the transition made; 0 when it made none. */
  readonly sequence: number;
  /** Set when the transition changed what readers see. */
  readonly updatedAt?: Date;
}

/** What became of a move; undefined when the transaction had no room for it. */
export type Outcome = Moved | DomainError | undefined;

/** What moving documents needs beside the transaction. */
export interface MoveDeps {
  readonly types: Pick<TypeRegistry, "at">;
  /** Definition of a workflow version that documents were stamped with. */
  workflow(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
}

/** Most bytes of documents that one transaction takes on. */
const bytesMax = 4 * 1024 * 1024;

/** A move that no check has refused so far. */
interface Attempt {
  readonly move: Move;
  readonly head: Head;
  readonly chosen: Chosen;
  readonly plan: TransitionPlan;
}

/** An attempt, and the version it moves. */
interface Loaded extends Attempt {
  readonly parts: DocumentParts;
  readonly value: DocumentValue;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly writer: string;
  readonly schemaGeneration: number;
  readonly slug: string | undefined;
}

/**
 * Moves documents of one tenant in one transaction, each at most once and each judged alone: whatever is refused has
 * been refused before the first write, since one refused write would undo everybody's.
 *
 * @returns one outcome a move, in order
 */
export async function moveDocuments(
  deps: MoveDeps,
  transaction: TransitionTransaction,
  tenantId: string,
  moves: readonly Move[],
): Promise<Outcome[]> {
  const outcomes = new Map<string, Outcome>();
  const attempts = await chooseAll(deps, transaction, tenantId, moves, outcomes);
  // Nobody is kept from the clock for what is refused already.
  if (attempts.length > 0) await moveChosen(deps, transaction, tenantId, attempts, outcomes);
  return moves.map(({ documentId }) => outcomes.get(documentId));
}

async function moveChosen(
  deps: MoveDeps,
  transaction: TransitionTransaction,
  tenantId: string,
  attempts: readonly Attempt[],
  outcomes: Map<string, Outcome>,
): Promise<void> {
  const tick = await transaction.tick(typesTouched(attempts));
  const loaded = await loadAll(transaction, attempts);
  const slugs = await readSlugs(transaction, loaded);
  const changes: Changes = { heads: [], history: [], publications: [], snapshots: [], slugs: [] };
  for (const attempt of loaded) {
    const outcome = await refusal(async () => {
      await judge(deps, tenantId, attempt, slugs, tick);
      return apply(attempt, slugs, tick, changes);
    });
    outcomes.set(attempt.move.documentId, outcome);
  }
  changes.slugs = slugs.changes();
  if (changes.heads.length > 0) await transaction.write(changes);
}

async function chooseAll(
  deps: MoveDeps,
  transaction: TransitionTransaction,
  tenantId: string,
  moves: readonly Move[],
  outcomes: Map<string, Outcome>,
): Promise<Attempt[]> {
  const ids = moves.map(({ documentId }) => documentId);
  const { heads, complete } = await transaction.readHeads(ids, bytesMax);
  const headOf = new Map(heads.map((head) => [head.documentId, head]));
  const attempts: Attempt[] = [];
  for (const move of moves) {
    const head = headOf.get(move.documentId);
    if (!head) {
      if (complete) outcomes.set(move.documentId, notFound(move.documentId));
      continue;
    }
    const chosen = await refusal(async () => {
      const definition = await deps.workflow(tenantId, head.workflowId, head.workflowVersion);
      const { name, expectedVersion, by } = move;
      return chooseTransition(definition, standing(head), { name, expectedVersion, role: by.role });
    });
    if (chosen instanceof DomainError) outcomes.set(move.documentId, chosen);
    else attempts.push({ move, head, chosen, plan: planTransition(standing(head), chosen) });
  }
  return attempts;
}

/** Types whose readers see something else. One whose moves are all refused later costs its readers a needless 200. */
function typesTouched(attempts: readonly Attempt[]): Set<string> {
  return new Set(attempts.flatMap(({ head, plan }) => (plan.live ? [head.type] : [])));
}

/** A live version that is no longer the head rests among the versions. */
async function loadAll(transaction: TransitionTransaction, attempts: readonly Attempt[]): Promise<Loaded[]> {
  const older = attempts.filter(({ head, chosen }) => chosen.moved.version !== head.version);
  const references = older.map(({ head, chosen }) => ({
    documentId: head.documentId,
    version: chosen.moved.version,
  }));
  const versions = references.length === 0 ? [] : await transaction.readVersions(references);
  const versionOf = new Map(versions.map((version) => [version.documentId, version]));
  return attempts.map((attempt) => {
    const { head, chosen } = attempt;
    if (chosen.moved.version === head.version) return load(attempt, head, head.changedBy);
    const version = versionOf.get(head.documentId);
    if (!version) throw new TypeError(`version ${chosen.moved.version} of document ${head.documentId} is not there`);
    return load(attempt, version, version.createdBy);
  });
}

function load(attempt: Attempt, parts: DocumentParts & { schemaGeneration: number }, writer: Actor): Loaded {
  const value = parseParts(parts);
  const meta = isJsonObject(value.meta) ? value.meta : {};
  const { slug } = publicationKeys(attempt.head.type, value);
  const { schemaGeneration } = parts;
  return { ...attempt, parts, value, meta, writer: writer.actor, schemaGeneration, slug };
}

/** Slugs that are about to be taken, and those that documents before readers hold. */
async function readSlugs(transaction: TransitionTransaction, loaded: readonly Loaded[]): Promise<SlugTable> {
  const published = loaded.filter(({ chosen }) => chosen.to === "published");
  const named = published.flatMap(({ head, slug }) => (slug === undefined ? [] : [{ type: head.type, slug }]));
  const holders = loaded.flatMap(({ head }) => (head.live ? [head.documentId] : []));
  return new SlugTable(await transaction.readSlugs(named, holders));
}

async function judge(
  deps: MoveDeps,
  tenantId: string,
  { move, head, chosen, value, meta, writer, schemaGeneration, slug }: Loaded,
  slugs: SlugTable,
  now: Date,
): Promise<void> {
  await judgeGuards(guardsOf(chosen), {
    actor: move.by.actor,
    writer,
    everPublished: head.live !== undefined,
    now,
    meta,
    links: Array.isArray(value.links) ? value.links : [],
    violations: async () => {
      const type = await deps.types.at(tenantId, head.type, schemaGeneration);
      return type.checkPublishable(value);
    },
    slugHolder: () => (slug === undefined ? undefined : slugs.holder(head.type, slug, head.documentId)),
  });
}

/** That no two published documents of a type share a slug is a promise to readers, whatever the workflow says. */
function guardsOf({ transition, to }: Chosen): readonly Guard[] {
  const { guards } = transition;
  if (to !== "published" || guards.some(({ kind }) => kind === "slugFree")) return guards;
  return [...guards, { kind: "slugFree" }];
}

function apply(loaded: Loaded, slugs: SlugTable, tick: Date, changes: Changes): Moved {
  const { move, head, plan } = loaded;
  const live = plan.live && publish(loaded, plan.live, slugs, tick, changes);
  const { documentId } = head;
  changes.heads.push({
    documentId,
    standing: { status: plan.headStatus, changedAt: tick, ...(live ? { live } : {}) },
  });
  const { version, from, to } = plan;
  changes.history.push({ documentId, at: tick, by: move.by, transition: move.name, version, from, to });
  const moved = { documentId, version, status: to };
  return live ? { ...moved, sequence: live.sequence, updatedAt: tick } : { ...moved, sequence: 0 };
}

/** Seals a snapshot and puts it, or a tombstone, before readers. */
function publish(
  { head, parts, value, slug }: Loaded,
  { version, status, snapshot }: NonNullable<TransitionPlan["live"]>,
  slugs: SlugTable,
  updatedAt: Date,
  changes: Changes,
): Live {
  const { documentId, type } = head;
  const sequence = (head.live?.sequence ?? 0) + 1;
  const sealed = sealSnapshot(parts, { documentId, type, version, status: snapshot, updatedAt });
  const { bytes, sha256, linksStart, linksEnd } = sealed;
  const row = { documentId, type, version, sequence, updatedAt };
  changes.snapshots.push({ ...row, status: snapshot, bytes, sha256 });
  if (snapshot === "usable") {
    slugs.claim(type, slug, documentId);
    changes.publications.push({ ...row, live: { ...publicationKeys(type, value), bytes, linksStart, linksEnd } });
  } else {
    slugs.retire(documentId);
    changes.publications.push(row);
  }
  return { version, status, sequence, updatedAt };
}

function standing({ version, status, live }: Head) {
  return { head: { version, status }, ...(live ? { live } : {}) };
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

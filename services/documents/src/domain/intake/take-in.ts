import { DomainError, type Violation } from "@vidimus/kit/errors";
import type { Actor, NewDocument, WorkflowReference } from "../document/document.ts";
import { invalidDocument } from "../document/invalid-document.ts";
import { throwMissing } from "../document/throw-missing.ts";
import { requireTenantId } from "@vidimus/kit/ids";
import type { TypeRegistry } from "../types/document-type.ts";
import type { WorkflowDefinition } from "../workflow/definition.ts";
import { requireRole } from "../workflow/roles.ts";
import { unknownType } from "./validate-draft.ts";
import { type DraftReader, draftViolations } from "./read-draft.ts";

export interface IntakeItem {
  readonly tenantId: string;
  /** JSON of a create request, in either form of `openEnvelope`. */
  readonly json: Uint8Array;
  /** Token of the attempt; "" for none. */
  readonly intakeToken: string;
  readonly createdBy: Actor;
  /**
   * Whether the creator's API key has the scope to create; the workflow's roles are then not
   * checked.
   */
  readonly isByScope?: boolean;
}

export interface Intake {
  readonly tenantId: string;
  readonly documentId: string;
  readonly intakeDigest: Uint8Array;
  readonly intakeToken?: string;
}

export interface DocumentReference {
  readonly tenantId: string;
  readonly documentId: string;
}

export interface IntakeStore {
  /** Stores all documents whose id is free, durably. Returns the positions of the others. */
  insert(documents: readonly NewDocument[]): Promise<Set<number>>;
  /** The intakes of those documents that are stored, in any order. */
  findIntakes(references: readonly DocumentReference[]): Promise<Intake[]>;
}

export interface IntakeDeps {
  documents: IntakeStore;
  readDraft: DraftReader;
  types: Pick<TypeRegistry, "find">;
  workflow(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
  now(): Date;
}

export class IdInUse extends DomainError {
  readonly documentId: string;
  /** Whether the stored document was taken in with the same content. */
  readonly sameContent: boolean;

  constructor(documentId: string, sameContent: boolean) {
    const content = sameContent ? "with the same content" : "with other content";
    const reason = sameContent ? "same_content" : "other_content";
    super("already_exists", `document ${documentId} already exists ${content}`, {
      reason,
      violations: [{ pointer: "/id", message: `is in use ${content}`, reason }],
    });
    this.documentId = documentId;
    this.sameContent = sameContent;
  }
}

/** The result of an item: its document's id, the reason of its refusal, or an unexpected error. */
export type IntakeOutcome = { documentId: string } | Error;

/** An item with a valid envelope and id. */
interface Candidate extends DocumentReference {
  intakeToken: string;
  /** Absent when the members could not be read. */
  digest?: Uint8Array;
  /** The document to store; absent when there are violations. */
  document?: NewDocument;
  violations: Violation[];
}

/**
 * Each item is checked on its own, and all valid documents are stored by one insert. An id in use
 * is reported instead of the document's violations, so that a retry is safe even when the schema
 * has changed since. A repeated attempt (same token, same content) gets the answer of the first.
 *
 * @returns one outcome for each item, in order
 */
export async function takeIn(
  deps: IntakeDeps,
  items: readonly IntakeItem[],
  signal?: AbortSignal,
): Promise<IntakeOutcome[]> {
  const batch = { ...deps, types: { find: findOnce(deps.types) } };
  const checked = await Promise.all(items.map((item) => check(batch, item, signal)));
  const candidates = checked.filter((entry): entry is Candidate => !(entry instanceof Error));
  const refused = await store(deps.documents, candidates);
  const taken = await findTaken(deps.documents, refused);
  return checked.map((entry) => {
    if (entry instanceof Error) return entry;
    return refused.has(entry) ? explain(entry, taken.get(keyOf(entry))) : { documentId: entry.documentId };
  });
}

function findOnce(types: IntakeDeps["types"]): IntakeDeps["types"]["find"] {
  const found = new Map<string, ReturnType<IntakeDeps["types"]["find"]>>();
  return (tenantId, name) => {
    // Unambiguous, because a tenant id contains no line feed.
    const key = `${tenantId}\n${name}`;
    const known = found.get(key) ?? types.find(tenantId, name);
    found.set(key, known);
    return known;
  };
}

async function check(deps: IntakeDeps, item: IntakeItem, signal: AbortSignal | undefined): Promise<Candidate | Error> {
  try {
    return await toCandidate(deps, item, signal);
  } catch (error) {
    return error instanceof Error ? error : new Error("an item failed", { cause: error });
  }
}

async function toCandidate(deps: IntakeDeps, item: IntakeItem, signal: AbortSignal | undefined): Promise<Candidate> {
  const { intakeToken, createdBy } = item;
  const tenantId = requireTenantId(item.tenantId);
  if (intakeToken.length > 64) throw new DomainError("invalid", "an intake token has at most 64 characters");
  if (item.json.byteLength === 0) throwMissing("draft.document_json");
  const draft = await deps.readDraft(tenantId, item.json, { as: "create", tenantId, intakeToken }, signal);
  const { documentId, document } = draft;
  const candidate = { tenantId, documentId, intakeToken };
  if (!document) return { ...candidate, violations: draftViolations(draft, draft.violations) };
  const { type, parts, digest } = document;
  const known = await deps.types.find(tenantId, type);
  if (known && !item.isByScope) await requireMayCreate(deps, tenantId, known.workflow, createdBy.role);
  const violations = known ? await known.type.check(document, "shape", signal) : [unknownType(type)];
  if (!known || violations.length > 0) {
    return { ...candidate, digest, violations: draftViolations(draft, violations) };
  }
  const accepted: NewDocument = {
    tenantId,
    documentId,
    type,
    ...parts,
    ...known.workflow,
    schemaGeneration: known.type.generation,
    intakeDigest: digest,
    ...(intakeToken === "" ? {} : { intakeToken }),
    createdAt: deps.now(),
    createdBy,
  };
  return { ...candidate, digest, document: accepted, violations: [] };
}

async function requireMayCreate(
  { workflow }: Pick<IntakeDeps, "workflow">,
  tenantId: string,
  { workflowId, workflowVersion }: WorkflowReference,
  role: string,
): Promise<void> {
  const definition = await workflow(tenantId, workflowId, workflowVersion);
  requireRole(definition, role, definition.create, "create documents");
}

/** Stores the valid candidates. Returns the others, and those whose id is in use. */
async function store(documents: IntakeStore, candidates: readonly Candidate[]): Promise<Set<Candidate>> {
  const refused = new Set<Candidate>();
  const sound: [Candidate, NewDocument][] = [];
  for (const candidate of candidates) {
    if (candidate.document) sound.push([candidate, candidate.document]);
    else refused.add(candidate);
  }
  if (sound.length === 0) return refused;
  const positions = await documents.insert(sound.map(([, document]) => document));
  for (const [position, [candidate]] of sound.entries()) if (positions.has(position)) refused.add(candidate);
  return refused;
}

async function findTaken(documents: IntakeStore, refused: ReadonlySet<Candidate>): Promise<Map<string, Intake>> {
  if (refused.size === 0) return new Map();
  const intakes = await documents.findIntakes([...refused]);
  return new Map(intakes.map((intake) => [keyOf(intake), intake]));
}

function explain(candidate: Candidate, intake: Intake | undefined): IntakeOutcome {
  const { documentId, violations } = candidate;
  if (!intake && violations.length > 0) return invalidDocument(violations);
  const same =
    intake !== undefined &&
    candidate.digest !== undefined &&
    Buffer.compare(candidate.digest, intake.intakeDigest) === 0;
  if (same && candidate.intakeToken !== "" && candidate.intakeToken === intake.intakeToken) return { documentId };
  return new IdInUse(documentId, same);
}

function keyOf({ tenantId, documentId }: DocumentReference): string {
  return `${tenantId}\n${documentId}`;
}

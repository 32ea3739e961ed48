import { DomainError } from "@vidimus/kit/errors";
import type { Actor, DocumentParts, Head } from "../document/document.ts";
import { invalidDocument } from "../document/invalid-document.ts";
import { type HeadReader, requireHead } from "../document/require-head.ts";
import type { Revision } from "../document/revision.ts";
import type { DraftReader } from "../intake/read-draft.ts";
import type { DocumentType, TypeRegistry } from "../types/document-type.ts";
import { mayTake, type WorkflowDefinition } from "../workflow/definition.ts";

/** A requested edit. */
interface Edit {
  readonly tenantId: string;
  /** Lowercase UUID. */
  readonly documentId: string;
  /** The whole new content. */
  readonly json: Uint8Array;
  /** The version the caller saw. */
  readonly expectedVersion: number;
  readonly by: Actor;
  readonly signal?: AbortSignal;
}

/** Stores, types and workflows that an edit is checked against. */
export interface UpdateDocumentDeps {
  documents: HeadReader;
  revisions: {
    /**
     * Writes what `decide` makes of the head as the next version, all in one transaction; answers
     * the new head.
     */
    revise(tenantId: string, documentId: string, decide: (head: Head) => Revision): Promise<Head>;
  };
  readDraft: DraftReader;
  types: TypeRegistry;
  /** Definition of a workflow version that documents were stamped with. */
  workflow(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
  now(): Date;
}

/**
 * Writes the next version of a document, as draft; the published version stays as it is.
 *
 * @returns the new head
 * @throws DomainError `not_found`; `conflict`, with the newest version in the message, when the
 *   named one is another; `failed_precondition` when the document is in a terminal state;
 *   `permission_denied` when the workflow has a transition from the head's state to draft and the
 *   role may not take it; `invalid` when the new content is invalid
 */
export async function updateDocument(deps: UpdateDocumentDeps, edit: Edit): Promise<Head> {
  const { tenantId, documentId } = edit;
  const seen = await requireHead(deps.documents, tenantId, documentId);
  requireVersion(seen, edit.expectedVersion);
  const type = await currentType(deps.types, seen);
  const parts = await requireFit(deps.readDraft, type, edit);
  const workflow = await deps.workflow(tenantId, seen.workflowId, seen.workflowVersion);
  return deps.revisions.revise(tenantId, documentId, (head) => {
    requireVersion(head, edit.expectedVersion);
    requireOpen(head, workflow);
    requireWayToDraft(head, workflow, edit.by.role);
    return {
      ...parts,
      schemaGeneration: type.generation,
      // The clock of this process may be behind another's; history must still be in order.
      writtenAt: new Date(Math.max(deps.now().getTime(), head.changedAt.getTime() + 1)),
      writtenBy: edit.by,
    };
  });
}

async function currentType(types: TypeRegistry, { tenantId, type, schemaGeneration }: Head): Promise<DocumentType> {
  const known = await types.find(tenantId, type);
  return known?.type ?? types.at(tenantId, type, schemaGeneration);
}

/** The new content, read and checked. */
async function requireFit(readDraft: DraftReader, type: DocumentType, edit: Edit): Promise<DocumentParts> {
  const { tenantId, documentId, json, signal } = edit;
  const draft = await readDraft(tenantId, json, { as: "edit", documentId, type: type.name }, signal);
  const { document } = draft;
  if (!document) throw invalidDocument(draft.violations);
  if (document.type !== type.name) {
    throw invalidDocument([{ pointer: "/type", message: `a document keeps its type, ${type.name}` }]);
  }
  const violations = await type.check(document, "shape", signal);
  if (violations.length > 0) throw invalidDocument(violations);
  return document.parts;
}

function requireVersion({ version, status }: Head, expected: number): void {
  if (version === expected) return;
  throw new DomainError("conflict", `version ${expected} was expected, but version ${version} stands there, ${status}`);
}

function requireOpen({ status }: Head, workflow: WorkflowDefinition): void {
  if (workflow.states.get(status) !== "terminal") return;
  throw new DomainError("failed_precondition", `the document is ${status}, and nothing leads out of that`);
}

/**
 * An edit sets the state to draft, so it takes the role that a transition to draft, as `restore`,
 * would take.
 */
function requireWayToDraft({ status }: Head, { transitions }: WorkflowDefinition, role: string): void {
  const ways = transitions.filter(({ from, to }) => from.includes(status) && to === "draft");
  if (ways.length === 0 || ways.some((way) => mayTake(way, role))) return;
  const names = ways.map(({ name }) => name).join(" or ");
  throw new DomainError("permission_denied", `the document is ${status}; editing it takes a role that may ${names} it`);
}

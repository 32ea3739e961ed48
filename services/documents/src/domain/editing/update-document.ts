import { DomainError } from "@vidimus/kit/errors";
import type { Actor, Head } from "../document/document.ts";
import { invalidDocument } from "../document/invalid-document.ts";
import { type HeadReader, requireHead } from "../document/require-head.ts";
import type { Revision } from "../document/revision.ts";
import { type ReadDocument, readMembers } from "../intake/read-members.ts";
import { parseJson } from "../json/parse-json.ts";
import type { DocumentType, TypeRegistry } from "../types/document-type.ts";
import { mayTake, type WorkflowDefinition } from "../workflow/definition.ts";
import { openEdit } from "./open-edit.ts";

/** An edit that somebody asks for. */
export interface Edit {
  readonly tenantId: string;
  /** Lowercase UUID. */
  readonly documentId: string;
  /** The whole new content. */
  readonly json: Uint8Array;
  /** The version the caller saw. */
  readonly expectedVersion: number;
  readonly by: Actor;
}

/** What editing needs. */
export interface EditDeps {
  documents: HeadReader;
  revisions: {
    /** Writes what `decide` makes of the head as the next version, all in one transaction; answers the new head. */
    revise(tenantId: string, documentId: string, decide: (head: Head) => Revision): Promise<Head>;
  };
  types: TypeRegistry;
  /** Definition of a workflow version that documents were stamped with. */
  workflow(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
  now(): Date;
}

/**
 * Writes the next version of a document, as draft; the live version stays as it is.
 *
 * @returns the new head
 * @throws DomainError `not_found`; `conflict`, with what stands there now, when the named version is not the newest;
 *   `failed_precondition` when the document has ended; `permission_denied` when the workflow names a way from the head's
 *   state to draft and the role may not take it; `invalid` when the new content does not hold
 */
export async function updateDocument(deps: EditDeps, edit: Edit): Promise<Head> {
  const { tenantId, documentId } = edit;
  const members = openEdit(parseJson(edit.json), documentId);
  const seen = await requireHead(deps.documents, tenantId, documentId);
  requireVersion(seen, edit.expectedVersion);
  const reading = readMembers({ type: seen.type, ...members });
  if ("violations" in reading) throw invalidDocument(reading.violations);
  const type = await currentType(deps.types, seen);
  requireFit(type, reading.document);
  const workflow = await deps.workflow(tenantId, seen.workflowId, seen.workflowVersion);
  return deps.revisions.revise(tenantId, documentId, (head) => {
    requireVersion(head, edit.expectedVersion);
    requireOpen(head, workflow);
    requireWayToDraft(head, workflow, edit.by.role);
    return {
      ...reading.document.parts,
      schemaGeneration: type.generation,
      // A clock that lags behind another process's must not put an edit before, or beside, what it follows.
      writtenAt: new Date(Math.max(deps.now().getTime(), head.changedAt.getTime() + 1)),
      writtenBy: edit.by,
    };
  });
}

async function currentType(types: TypeRegistry, { tenantId, type, schemaGeneration }: Head): Promise<DocumentType> {
  const known = await types.find(tenantId, type);
  return known?.type ?? types.at(tenantId, type, schemaGeneration);
}

function requireFit(type: DocumentType, document: ReadDocument): void {
  if (document.type !== type.name) {
    throw invalidDocument([{ pointer: "/type", message: `a document keeps its type, ${type.name}` }]);
  }
  const violations = type.checkShape(document.value);
  if (violations.length > 0) throw invalidDocument(violations);
}

function requireVersion({ version, status }: Head, expected: number): void {
  if (version === expected) return;
  throw new DomainError("conflict", `version ${expected} was expected, but version ${version} stands there, ${status}`);
}

function requireOpen({ status }: Head, workflow: WorkflowDefinition): void {
  if (workflow.states.get(status) !== "terminal") return;
  throw new DomainError("failed_precondition", `the document is ${status}, and nothing leads out of that`);
}

/** An edit takes the document back to draft, so it must not be a way around a transition that leads there, as restore does. */
function requireWayToDraft({ status }: Head, { transitions }: WorkflowDefinition, role: string): void {
  const ways = transitions.filter(({ from, to }) => from.includes(status) && to === "draft");
  if (ways.length === 0 || ways.some((way) => mayTake(way, role))) return;
  const names = ways.map(({ name }) => name).join(" or ");
  throw new DomainError("permission_denied", `the document is ${status}; editing it takes a role that may ${names} it`);
}

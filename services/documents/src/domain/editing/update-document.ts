import { DomainError } from "@vidimus/kit/errors";
import { assembleForEditors } from "../document/assemble-document.ts";
import type { Head } from "../document/document.ts";
import { invalidDocument } from "../document/invalid-document.ts";
import { type HeadReader, requireHead } from "../document/require-head.ts";
import type { Revision } from "../document/revision.ts";
import type { DraftReader } from "../intake/read-draft.ts";
import { digestParts } from "../intake/read-members.ts";
import type { DocumentType, TypeRegistry } from "../types/document-type.ts";
import { ended, staleVersion } from "../workflow/choose-transition.ts";
import type { WorkflowDefinition } from "../workflow/definition.ts";
import { standingFacts } from "../workflow/legal-transitions.ts";
import { mayAct, requireRole } from "../workflow/roles.ts";
import { standingOf } from "../workflow/standing.ts";
import { type Edit, readContent } from "./edit.ts";
import { findFirstAnswer, type FirstAnswerDeps } from "./repeated-update.ts";

export interface UpdateDocumentDeps extends FirstAnswerDeps {
  documents: HeadReader;
  revisions: FirstAnswerDeps["revisions"] & {
    /**
     * Writes the version that `decide` makes of the head as the next one, in one transaction, with
     * the request's token in its history entry. Returns the new head.
     */
    revise(
      tenantId: string,
      documentId: string,
      decide: (head: Head) => Revision,
      requestToken?: string,
    ): Promise<Head>;
  };
  readDraft: DraftReader;
  types: TypeRegistry;
  workflow(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
  now(): Date;
}

/**
 * Writes the next version of a document, in state draft; the published version does not change.
 * Content equal to the head's changes neither version nor state.
 *
 * @returns the head afterwards; for a repeated request as the first one left it
 * @throws DomainError `not_found`; `permission_denied` when the workflow does not let the role edit
 * in the head's state; `conflict` with reason `stale_version`; `failed_precondition` with reason
 * `ended`; `too_large`; `invalid` when the new content is invalid or missing, or, with reason
 * `request_token_reused`, when the token belongs to another request
 */
export async function updateDocument(deps: UpdateDocumentDeps, edit: Edit): Promise<Head> {
  const seen = await requireHead(deps.documents, edit.tenantId, edit.documentId);
  const workflow = await deps.workflow(edit.tenantId, seen.workflowId, seen.workflowVersion);
  try {
    return await write(deps, edit, seen, workflow);
  } catch (error) {
    // The first answer is looked up only after a refusal, so that first requests cost no extra
    // read.
    const first = isRefusal(error) && mayEver(workflow, edit) ? await findFirstAnswer(deps, edit) : undefined;
    if (!first) throw error;
    return first;
  }
}

/** Whether the caller's role may edit in some state that is not terminal. */
function mayEver(workflow: WorkflowDefinition, { by }: Edit): boolean {
  const isEditable = (state: string) => workflow.states.get(state) !== "terminal";
  return workflow.states
    .keys()
    .some((state) => isEditable(state) && mayAct(workflow, by.role, workflow.edit.get(state)));
}

function isRefusal(error: unknown): boolean {
  return error instanceof DomainError && error.kind !== "unavailable" && error.kind !== "deadline_exceeded";
}

async function write(deps: UpdateDocumentDeps, edit: Edit, seen: Head, workflow: WorkflowDefinition): Promise<Head> {
  const { tenantId, documentId } = edit;
  requireEditable(seen, workflow, edit);
  // Content that equals the head's is accepted before its size is checked, because the head's
  // canonical form may exceed the maximum of an edit.
  const { status, version } = seen;
  if (assembleForEditors(seen, { documentId, type: seen.type, status, version }).equals(edit.json)) return seen;
  const type = await currentType(deps.types, seen);
  const document = await readContent(deps.readDraft, type, edit);
  if (digestParts(seen.type, seen).equals(document.digest)) return seen;
  const violations = await type.check(document, "shape", edit.signal);
  if (violations.length > 0) throw invalidDocument(violations);
  const decide = (head: Head): Revision => {
    requireEditable(head, workflow, edit);
    return {
      ...document.parts,
      schemaGeneration: type.generation,
      // Another process with a faster clock may have written the head; history must still be in
      // order.
      writtenAt: new Date(Math.max(deps.now().getTime(), head.changedAt.getTime() + 1)),
      writtenBy: edit.by,
    };
  };
  return deps.revisions.revise(tenantId, documentId, decide, edit.requestToken);
}

async function currentType(types: TypeRegistry, { tenantId, type, schemaGeneration }: Head): Promise<DocumentType> {
  const known = await types.find(tenantId, type);
  return known?.type ?? types.at(tenantId, type, schemaGeneration);
}

function requireEditable(head: Head, workflow: WorkflowDefinition, { by, expectedVersion }: Edit): void {
  const { status } = head;
  requireRole(workflow, by.role, workflow.edit.get(status), `edit a document that is ${status}`);
  if (head.version !== expectedVersion) {
    throw staleVersion(expectedVersion, head, standingFacts(workflow, standingOf(head), by.role));
  }
  if (workflow.states.get(status) === "terminal") throw ended(head);
}

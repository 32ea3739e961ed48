import { DomainError, type Violation } from "@vidimus/kit/errors";
import { createHash, randomUUID } from "node:crypto";
import type { Actor, NewDocument } from "../document/document.ts";
import { invalidDocument, violationsBelow } from "../document/invalid-document.ts";
import { requireTenantId } from "../document/require-ids.ts";
import { parseJson } from "../json/parse-json.ts";
import type { TypeRegistry } from "../types/document-type.ts";
import { unknownType } from "./judge-draft.ts";
import { openEnvelope } from "./open-envelope.ts";
import { readMembers } from "./read-members.ts";

/** One document to take in. */
export interface IntakeItem {
  readonly tenantId: string;
  /** A create request's JSON, in either form. */
  readonly json: Uint8Array;
  /** Names the attempt; "" when the caller names none. */
  readonly intakeToken: string;
}

/** What is stored of an intake, to tell a retry from a collision. */
export interface Intake {
  readonly tenantId: string;
  readonly documentId: string;
  readonly intakeDigest: Uint8Array;
  readonly intakeToken?: string;
}

/** Names one document. */
export interface DocumentReference {
  readonly tenantId: string;
  readonly documentId: string;
}

/** Where intakes go. */
export interface IntakeStore {
  /** Stores all documents whose id is free, durably, and answers the positions of those whose id is not. */
  insert(documents: readonly NewDocument[]): Promise<Set<number>>;
  /** The intakes behind these ids, as far as there are any. */
  findIntakes(references: readonly DocumentReference[]): Promise<Intake[]>;
}

/** What intake needs. */
export interface IntakeDeps {
  documents: IntakeStore;
  types: Pick<TypeRegistry, "find">;
  now(): Date;
}

/** The refusal of a document whose id is in use. */
export class IdInUse extends DomainError {
  readonly documentId: string;
  /** Whether what is stored was taken in with the same content. */
  readonly sameContent: boolean;

  constructor(documentId: string, sameContent: boolean) {
    const content = sameContent ? "with the same content" : "with other content";
    super("already_exists", `document ${documentId} already exists ${content}`);
    this.documentId = documentId;
    this.sameContent = sameContent;
  }
}

/** What became of an item: the id it is stored under, or why it is not. */
export type IntakeOutcome = { documentId: string } | DomainError;

/** An item whose envelope and id hold. */
interface Candidate extends DocumentReference {
  intakeToken: string;
  /** Absent when the members could not be read. */
  digest?: Buffer;
  /** What to store; absent when there are violations. */
  document?: NewDocument;
  violations: Violation[];
}

/**
 * Takes documents in, each judged alone, all stored by one insert. An id in use outranks whatever is wrong below the
 * envelope, so that a retry is safe even after the schema moved on; a repeat of an attempt that was stored (same token,
 * same content) is answered as stored.
 *
 * @returns one outcome an item, in order
 */
export async function takeIn(
  deps: IntakeDeps,
  items: readonly IntakeItem[],
  createdBy: Actor,
): Promise<IntakeOutcome[]> {
  const judged = await Promise.all(items.map(async (item) => judge(deps, item, createdBy)));
  const candidates = judged.filter((entry): entry is Candidate => !(entry instanceof DomainError));
  const refused = await store(deps.documents, candidates);
  const taken = await findTaken(deps.documents, refused);
  return judged.map((entry) => {
    if (entry instanceof DomainError) return entry;
    return refused.has(entry) ? explain(entry, taken.get(keyOf(entry))) : { documentId: entry.documentId };
  });
}

async function judge(deps: IntakeDeps, item: IntakeItem, createdBy: Actor): Promise<Candidate | DomainError> {
  try {
    return await toCandidate(deps, item, createdBy);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

async function toCandidate(deps: IntakeDeps, item: IntakeItem, createdBy: Actor): Promise<Candidate> {
  const { intakeToken } = item;
  const tenantId = requireTenantId(item.tenantId);
  if (intakeToken.length > 64) throw new DomainError("invalid", "an intake token has at most 64 characters");
  const { documentId, members, pointer } = openEnvelope(parseJson(item.json), () => mintId(tenantId, intakeToken));
  const candidate = { tenantId, documentId, intakeToken };
  const reading = readMembers(members);
  if ("violations" in reading) return { ...candidate, violations: violationsBelow(pointer, reading.violations) };
  const { type, value, parts, digest } = reading.document;
  const known = await deps.types.find(tenantId, type);
  if (!known) return { ...candidate, digest, violations: violationsBelow(pointer, [unknownType(type)]) };
  const violations = known.type.checkShape(value);
  if (violations.length > 0) return { ...candidate, digest, violations: violationsBelow(pointer, violations) };
  const document: NewDocument = {
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
  return { ...candidate, digest, document, violations: [] };
}

/** With a token the id follows from it, so that a repeated attempt finds the document that the first one made. */
function mintId(tenantId: string, intakeToken: string): string {
  if (intakeToken === "") return randomUUID();
  const bytes = createHash("sha256").update(`${tenantId}\n${intakeToken}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Stores what is sound, and answers what is not stored. */
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
  const same = intake !== undefined && candidate.digest?.equals(intake.intakeDigest) === true;
  if (same && candidate.intakeToken !== "" && candidate.intakeToken === intake.intakeToken) return { documentId };
  return new IdInUse(documentId, same);
}

function keyOf({ tenantId, documentId }: DocumentReference): string {
  return `${tenantId}\n${documentId}`;
}

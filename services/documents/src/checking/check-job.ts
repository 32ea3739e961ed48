import { DomainError, type Violation } from "@vidimus/kit/errors";
import { LRUCache } from "lru-cache";
import { type CheckableDocument, parseParts } from "../domain/document/assemble-document.ts";
import type { DocumentParts } from "../domain/document/document.ts";
import { type Draft, type DraftForm, draftViolations, readDraft } from "../domain/intake/read-draft.ts";
import { coreChecks } from "../domain/types/core-types.ts";
import type { Tier, TypeSource } from "../domain/types/document-type.ts";
import { type Progress, schemaCheck, type SchemaCheck } from "../domain/types/json-schema-type.ts";
import { readSchema } from "../domain/types/read-schema.ts";

/**
 * A piece of checking, with the shape of what comes of it. All of it can be passed between threads.
 */
export interface JobShapes {
  read: { job: { readonly json: Uint8Array; readonly form: DraftForm }; result: Draft };
  check: {
    job: { readonly source: TypeSource; readonly document: CheckableDocument; readonly tier: Tier };
    result: readonly Violation[];
  };
  schema: { job: { readonly field: string; readonly bytes: Uint8Array }; result: Uint8Array };
}

/** Names of the pieces. */
type JobKind = keyof JobShapes;

/** One piece to do. */
export type Job = { [K in JobKind]: { readonly kind: K } & JobShapes[K]["job"] }[JobKind];

/** What a thread says of its job: how far it is, or how it ended. */
export type Report =
  | { readonly progress: readonly Violation[] | undefined }
  | { readonly done: unknown }
  | {
      readonly refused: Pick<DomainError, "kind" | "message" | "violations" | "reason" | "metadata">;
    }
  | { readonly failed: string };

/** Tells what a thread has to say, and passes on the buffers that it owns instead of copying them. */
type Tell = (report: Report, owned?: ArrayBuffer[]) => void;

/** Does a job and reports it, its progress included; never throws. */
export function runJob(job: Job, report: Tell): void {
  try {
    const result = resultOf(job, (progress) => report({ progress }));
    report({ done: result }, "documentId" in result && result.document ? partBuffers(result.document.parts) : []);
  } catch (error) {
    if (!(error instanceof DomainError)) report({ failed: String(error instanceof Error ? error.stack : error) });
    else {
      const { kind, message, violations, reason, metadata } = error;
      report({ refused: { kind, message, violations, reason, metadata } });
    }
  }
}

function resultOf(job: Job, progress: Progress): JobShapes[JobKind]["result"] {
  switch (job.kind) {
    case "read":
      return readAndCheck(job, progress);
    case "check":
      return checkDocument(job.source, job.document, job.tier, progress);
    case "schema":
      return readSchema(job.field, job.bytes);
    default:
      return job satisfies never;
  }
}

/**
 * Also checks what it read against the built-in shape of its type, as most tenants do next: another
 * job would copy and parse 1 MiB once more.
 */
function readAndCheck({ json, form }: JobShapes["read"]["job"], progress: Progress): Draft {
  const draft = readDraft(json, form);
  if (!draft.document) return draft;
  const { type, parts, digest, value = parseParts(parts) } = draft.document;
  progress();
  // The draft is not there to say where the faults are when its job is cut.
  const tell: Progress = (found) => progress(found && draftViolations(draft, found));
  const builtInFaults = coreChecks.get(type)?.(value, "shape", tell);
  // Without the value, which costs more to pass on than to parse again from its parts.
  return { ...draft, document: { type, parts, digest, ...(builtInFaults ? { builtInFaults } : {}) } };
}

/** The buffers of bytes that a job has to itself. They are passed on, and empty for its sender then. */
export function buffersOfJob(job: Job): ArrayBuffer[] {
  switch (job.kind) {
    case "read":
      return buffersOf([job.json]);
    case "check":
      return partBuffers(job.document.parts);
    case "schema":
      return buffersOf([job.bytes]);
    default:
      return job satisfies never;
  }
}

function partBuffers({ content, links, meta, title, titleRich }: DocumentParts): ArrayBuffer[] {
  return buffersOf([content, links, meta, title, ...(titleRich ? [titleRich] : [])]);
}

/** The buffers of which these bytes are all, so not Node's pool of small ones. */
function buffersOf(bytes: readonly Uint8Array[]): ArrayBuffer[] {
  return bytes.flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && byteLength === buffer.byteLength ? [buffer] : [],
  );
}

/** Checks a document here and now; see `DocumentType.check`. */
export function checkDocument(
  source: TypeSource,
  { parts, value = parseParts(parts) }: CheckableDocument,
  tier: Tier,
  progress?: Progress,
): readonly Violation[] {
  return checkOf(source)(value, tier, progress);
}

/** Checks of tenants' types. What is compiled takes some 60 times the bytes of its schema. */
const checks = new LRUCache<string, SchemaCheck>({ maxSize: 1024 * 1024 });

function checkOf(source: TypeSource): SchemaCheck {
  const known = "builtIn" in source ? coreChecks.get(source.builtIn) : checks.get(source.key);
  if (known) return known;
  if ("builtIn" in source) throw new TypeError(`there is no built-in type ${source.builtIn}`);
  const { key, shape, complete } = source;
  const check = schemaCheck({ shape: parse(shape), complete: parse(complete) });
  checks.set(key, check, { size: shape.byteLength + complete.byteLength });
  return check;
}

function parse(bytes: Uint8Array) {
  return JSON.parse(Buffer.from(bytes).toString());
}

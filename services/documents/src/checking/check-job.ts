import { DomainError, type Violation } from "@vidimus/kit/errors";
import { LRUCache } from "lru-cache";
import { type CheckableDocument, parseParts } from "../domain/document/assemble-document.ts";
import type { DocumentParts } from "../domain/document/document.ts";
import { type Draft, type DraftForm, draftViolations, readDraft } from "../domain/intake/read-draft.ts";
import { coreChecks } from "../domain/types/core-types.ts";
import type { Tier, TypeSource } from "../domain/types/document-type.ts";
import { type Progress, schemaCheck, type SchemaCheck } from "../domain/types/json-schema-type.ts";
import { readSchema } from "../domain/types/read-schema.ts";

/** The jobs of checking and their results. All of them can be passed between threads. */
export interface JobShapes {
  read: { job: { readonly json: Uint8Array; readonly form: DraftForm }; result: Draft };
  check: {
    job: { readonly source: TypeSource; readonly document: CheckableDocument; readonly tier: Tier };
    result: readonly Violation[];
  };
  schema: { job: { readonly field: string; readonly bytes: Uint8Array }; result: Uint8Array };
}

type JobKind = keyof JobShapes;

export type Job = { [K in JobKind]: { readonly kind: K } & JobShapes[K]["job"] }[JobKind];

export type Report =
  | { readonly progress: readonly Violation[] | undefined }
  | { readonly done: unknown }
  | {
      readonly refused: Pick<DomainError, "kind" | "message" | "violations" | "reason" | "metadata">;
    }
  | { readonly failed: string };

/** Buffers in `owned` are transferred to the owner of the thread instead of copied. */
type Tell = (report: Report, owned?: ArrayBuffer[]) => void;

/** Does a job and reports its progress and its result; never throws. */
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
 * Reads a draft and checks it against the built-in shape of its type. For most tenants this check
 * comes next, and as a job of its own it would copy and parse up to 1 MiB once more.
 */
function readAndCheck({ json, form }: JobShapes["read"]["job"], progress: Progress): Draft {
  const draft = readDraft(json, form);
  if (!draft.document) return draft;
  const { type, parts, digest, value = parseParts(parts) } = draft.document;
  progress();
  // `draftViolations` needs the draft to turn pointers into pointers of the request, and a job that
  // is cut returns no draft. So violations are converted as they are found.
  const tell: Progress = (found) => progress(found && draftViolations(draft, found));
  const builtInFaults = coreChecks.get(type)?.(value, "shape", tell);
  // The value is left out: copying it out of the thread costs more than parsing the parts again.
  return { ...draft, document: { type, parts, digest, ...(builtInFaults ? { builtInFaults } : {}) } };
}

/**
 * Buffers that only this job uses. Sending the job transfers them, which empties them for the
 * sender.
 */
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

/** Leaves out buffers that also hold other bytes, such as Node's pool for small buffers. */
function buffersOf(bytes: readonly Uint8Array[]): ArrayBuffer[] {
  return bytes.flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && byteLength === buffer.byteLength ? [buffer] : [],
  );
}

/** Checks a document in this thread; see `DocumentType.check`. */
export function checkDocument(
  source: TypeSource,
  { parts, value = parseParts(parts) }: CheckableDocument,
  tier: Tier,
  progress?: Progress,
): readonly Violation[] {
  return checkOf(source)(value, tier, progress);
}

/**
 * Compiled checks of tenants' types, for 1 MiB of schemas at most: a compiled check takes some 60
 * times the bytes of its schema.
 */
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

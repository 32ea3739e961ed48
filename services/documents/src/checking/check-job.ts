import { DomainError, type Violation } from "@vidimus/kit/errors";
import { LRUCache } from "lru-cache";
import { type CheckableDocument, parseParts } from "../domain/document/assemble-document.ts";
import { type Draft, type DraftForm, readDraft } from "../domain/intake/read-draft.ts";
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

/** Does a job and reports it, its progress included; never throws. */
export function runJob(job: Job, report: (report: Report) => void): void {
  try {
    report({ done: resultOf(job, (progress) => report({ progress })) });
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
      return withoutValue(readDraft(job.json, job.form));
    case "check":
      return checkDocument(job.source, job.document, job.tier, progress);
    case "schema":
      return readSchema(job.field, job.bytes);
    default:
      return job satisfies never;
  }
}

/** The values would cost more to pass on than to parse again from their parts. */
function withoutValue(draft: Draft): Draft {
  if (!draft.document) return draft;
  const { type, parts, digest } = draft.document;
  return { ...draft, document: { type, parts, digest } };
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

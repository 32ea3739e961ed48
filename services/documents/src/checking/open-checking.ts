import { DomainError } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { Counter, type Registry } from "prom-client";
import type { CheckableDocument } from "../domain/document/assemble-document.ts";
import type { DocumentParts } from "../domain/document/document.ts";
import { type DraftReader, readDraft } from "../domain/intake/read-draft.ts";
import { documentBytesMax } from "../domain/json/parse-json.ts";
import type { TypeChecks, TypeSource } from "../domain/types/document-type.ts";
import { readSchema, schemaBytesMax, type SchemaReader } from "../domain/types/read-schema.ts";
import { checkDocument } from "./check-job.ts";
import { cutViolations, refuseCut } from "./cut-refusal.ts";
import { JobCut, type JobLimits } from "./job-thread.ts";
import { JobThreads } from "./job-threads.ts";
import { createWorkTurns } from "@vidimus/kit/fair/work-turns";

/**
 * Largest document that is read and checked on the event loop: at most 10 ms at this size, usually
 * 0.3 ms.
 */
const inlineBytesMax = 32 * 1024;

/**
 * The costliest 1 MiB takes 0.3 s and up to 128 MiB to read:
 * docs/adr/0009-checking-beside-the-loop.md.
 */
const defaultLimits: JobLimits = { cpuMs: 1_000, heapMiB: 192 };

interface CheckingOptions {
  /** Number of threads for checks outside of the event loop; at least 2. */
  readonly threads: number;
  readonly registry: Registry;
  readonly log: Pick<Logger, "warn">;
  readonly limits?: JobLimits;
}

export interface Checking extends AsyncDisposable {
  readonly readDraft: DraftReader;
  readonly checks: TypeChecks;
  readonly readSchema: SchemaReader;
}

/**
 * Short drafts are read, and short documents of built-in types checked, on the event loop, where
 * tenants alternate. In threads with limited CPU time and memory, long drafts are read, long
 * documents and those of tenants' own schemas checked, and new schemas read.
 */
export function openChecking({ limits = defaultLimits, ...options }: CheckingOptions): Checking {
  const takeTurn = createWorkTurns();
  const jobs = openJobs({ limits, ...options });

  return {
    readDraft: async (tenantId, json, form, signal) => {
      // A document above the maximum is refused before it is parsed, so it needs no thread.
      const isInline = json.byteLength <= inlineBytesMax || json.byteLength > documentBytesMax;
      if (isInline) return takeTurn(tenantId, () => readDraft(json, form));
      const job = { kind: "read" as const, json: new Uint8Array(json), form };
      return jobs.run(tenantId, job, signal).catch(refuseCut("the document", limits));
    },
    checks: {
      isQuick,
      check: async (tenantId, source, document, tier, signal) => {
        if ("builtIn" in source && tier === "shape" && document.builtInFaults) return document.builtInFaults;
        if (isQuick(source, document)) return takeTurn(tenantId, () => checkDocument(source, document, tier));
        const job = { kind: "check" as const, source, document: { parts: copyOf(document.parts) }, tier };
        return jobs.run(tenantId, job, signal).catch((error: unknown) => cutViolations(error, limits));
      },
    },
    readSchema: async (tenantId, field, bytes) => {
      if (bytes.byteLength > schemaBytesMax) return readSchema(field, bytes);
      const job = { kind: "schema" as const, field, bytes: new Uint8Array(bytes) };
      return jobs.run(tenantId, job).catch(refuseCut(field, limits));
    },
    [Symbol.asyncDispose]: () => jobs[Symbol.asyncDispose](),
  };
}

/**
 * Jobs are counted by outcome, and logged when they were cut or failed. They reject with `JobCut`,
 * `DomainError` or the reason of their signal.
 */
function openJobs({
  threads,
  registry,
  log,
  limits,
}: Required<CheckingOptions>): Pick<JobThreads, "run"> & AsyncDisposable {
  const pool = new JobThreads({ entry: new URL("check-thread.ts", import.meta.url), threads, ...limits });
  const outcomes = new Counter({
    name: "vidimus_check_jobs_total",
    help: "Jobs of checking that were done beside the event loop, by what became of them.",
    labelNames: ["kind", "outcome"],
    registers: [registry],
  });
  return {
    run: async (tenantId, job, signal) => {
      const { kind } = job;
      try {
        const result = await pool.run(tenantId, job, signal);
        outcomes.inc({ kind, outcome: "done" });
        return result;
      } catch (error) {
        if (error === signal?.reason) throw error;
        const outcome = outcomeOf(error);
        outcomes.inc({ kind, outcome });
        if (error instanceof DomainError) throw error;
        const type = job.kind === "check" ? { type: nameOf(job.source) } : {};
        log.warn({ err: error, tenantId, kind, outcome, ...type }, "a job of checking was not done");
        if (error instanceof JobCut) throw error;
        throw new DomainError("unavailable", "it could not be checked; try again", { cause: error });
      }
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

function outcomeOf(error: unknown): "refused" | "time" | "memory" | "failed" {
  if (error instanceof DomainError) return "refused";
  return error instanceof JobCut ? error.reason : "failed";
}

function nameOf(source: TypeSource): string {
  return "builtIn" in source ? source.builtIn : source.key;
}

/** Built-in schemas take linear time; the time of a tenant's schema is not known in advance. */
function isQuick(source: TypeSource, { parts }: CheckableDocument): boolean {
  return "builtIn" in source && byteLength(parts) <= inlineBytesMax;
}

function byteLength({ content, links, meta, title }: DocumentParts): number {
  return content.byteLength + links.byteLength + meta.byteLength + title.byteLength;
}

/**
 * The parts are views into the memory of a message or a row, and a view is passed to a thread with
 * all of that memory. So only copies are passed.
 */
function copyOf({ content, links, meta, title }: DocumentParts): DocumentParts {
  return {
    content: new Uint8Array(content),
    links: new Uint8Array(links),
    meta: new Uint8Array(meta),
    title: new Uint8Array(title),
  };
}

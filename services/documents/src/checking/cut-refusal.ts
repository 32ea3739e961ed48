import { DomainError, type Violation } from "@vidimus/kit/errors";
import { invalidDocument, violationsMax } from "../domain/document/invalid-document.ts";
import { JobCut, type JobLimits } from "./job-thread.ts";

/**
 * The violations found before a check was cut, or one that names the limit that the check exceeded.
 * Throws any error but a `JobCut`.
 */
export function cutViolations(error: unknown, limits: JobLimits): readonly Violation[] {
  if (!(error instanceof JobCut)) throw error;
  const unnamed = [{ pointer: "", message: `cannot be checked against its type: ${excess(error, limits)}` }];
  return error.found?.slice(0, violationsMax) ?? unnamed;
}

/**
 * Refuses with the violations found before a job was cut, or else with the limit that the job
 * exceeded. Throws any error but a `JobCut` as it is.
 */
export function refuseCut(subject: string, limits: JobLimits): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof JobCut)) throw error;
    if (error.found) throw invalidDocument(error.found);
    throw new DomainError("invalid", `${subject} cannot be used: ${excess(error, limits)}`, { cause: error });
  };
}

function excess({ reason }: JobCut, { cpuMs, heapMiB }: JobLimits): string {
  return reason === "time" ? `it takes more than ${cpuMs} ms` : `it takes more than ${heapMiB} MiB`;
}

import { DomainError, type Violation } from "@vidimus/kit/errors";
import { Worker } from "node:worker_threads";
import { buffersOfJob, type Job, type Report } from "./check-job.ts";
import { CpuDeadline } from "./cpu-deadline.ts";

export interface JobLimits {
  /**
   * CPU milliseconds of each step: reading a document, compiling a schema, finding a first fault,
   * finding all faults.
   */
  readonly cpuMs: number;
  /** Largest old generation of a thread's heap. */
  readonly heapMiB: number;
}

/** A job was ended because it exceeded its limits. */
export class JobCut extends Error {
  override readonly name = "JobCut";
  readonly reason: "time" | "memory";
  /** Violations found before the end; undefined when there were none. */
  readonly found: readonly Violation[] | undefined;

  constructor(reason: JobCut["reason"], found: readonly Violation[] | undefined) {
    super(`a job took too much ${reason}`);
    this.reason = reason;
    this.found = found;
  }
}

interface Running {
  found: readonly Violation[] | undefined;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

/**
 * An idle thread ends after this time. Until then its heap may hold 100 MiB of a large document.
 */
const idleMsMax = 30_000;

/**
 * One thread, which does one job at a time. It starts with its first job. After it has ended (by
 * itself, because its job was cut or stalled, or after 30 s without a job), the next job starts
 * another one.
 */
export class JobThread implements AsyncDisposable {
  readonly #entry: URL;
  readonly #limits: JobLimits;
  #worker: Worker | undefined;
  #deadline: CpuDeadline | undefined;
  #running: Running | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(entry: URL, limits: JobLimits) {
    this.#entry = entry;
    this.#limits = limits;
  }

  /**
   * Does a job. The job's buffers are transferred, which empties them for the caller.
   *
   * Rejects with a `DomainError` when the job refuses its document or schema, with `JobCut` when it
   * exceeds its limits, and with another `Error` when the job fails or stalls, or the thread cannot
   * start (limit of the host's threads) or ends.
   */
  run(job: Job): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#running = { found: undefined, resolve, reject };
    clearTimeout(this.#idle);
    try {
      const worker = (this.#worker ??= this.#start());
      this.#deadline?.start();
      worker.postMessage(job, buffersOfJob(job));
    } catch (error) {
      this.#end(error);
    }
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#drop();
    this.#settle()?.reject(new Error("the thread was stopped"));
    await worker?.terminate();
  }

  #start(): Worker {
    const { cpuMs, heapMiB } = this.#limits;
    const resourceLimits = { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: 16 };
    const worker = new Worker(this.#entry, { name: "check", resourceLimits });
    this.#deadline = new CpuDeadline(worker, cpuMs, (reason) =>
      this.#end(reason === "time" ? this.#cut(reason) : new Error("a job got no CPU time")),
    );
    worker.on("message", (report: Report) => this.#hear(worker, report));
    worker.on("error", (error: unknown) => this.#fail(worker, error));
    worker.on("exit", (code) => this.#fail(worker, new Error(`a thread ended with code ${code}`)));
    return worker;
  }

  #hear(worker: Worker, report: Report): void {
    // Messages of a thread that was ended may still arrive.
    if (worker !== this.#worker) return;
    if ("progress" in report) {
      this.#deadline?.start();
      // An empty list only means that no fault was found so far, so it is not kept.
      if (this.#running && report.progress?.length) this.#running.found = report.progress;
      return;
    }
    const running = this.#settle();
    this.#idle = setTimeout(() => void this.#drop()?.terminate(), idleMsMax).unref();
    if ("done" in report) running?.resolve(report.done);
    else if ("failed" in report) running?.reject(new Error("a job failed", { cause: report.failed }));
    else running?.reject(new DomainError(report.refused.kind, report.refused.message, report.refused));
  }

  #fail(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return;
    const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
    this.#end(isTooLarge ? this.#cut("memory") : error);
  }

  #cut(reason: JobCut["reason"]): JobCut {
    return new JobCut(reason, this.#running?.found);
  }

  #end(reason: unknown): void {
    void this.#drop()?.terminate();
    this.#settle()?.reject(reason);
  }

  #settle(): Running | undefined {
    this.#deadline?.stop();
    const running = this.#running;
    this.#running = undefined;
    return running;
  }

  #drop(): Worker | undefined {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#deadline?.stop();
    clearTimeout(this.#idle);
    return worker;
  }
}

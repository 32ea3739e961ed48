import { DomainError, type Violation } from "@vidimus/kit/errors";
import { Worker } from "node:worker_threads";
import type { Job, Report } from "./check-job.ts";
import { CpuDeadline } from "./cpu-deadline.ts";

/** What one job may cost. */
export interface JobLimits {
  /** CPU time of each step: compiling a schema, finding a first fault, finding all. */
  readonly cpuMs: number;
  /** Heap of a thread. */
  readonly heapMiB: number;
}

/** A job was ended because it cost too much. */
export class JobCut extends Error {
  override readonly name = "JobCut";
  readonly reason: "time" | "memory";
  /** What had been found before. */
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
 * One thread, which does one job at a time. It starts with its first job; one that ended, on its
 * own or because its job was cut, is replaced by the next job.
 */
export class JobThread implements AsyncDisposable {
  readonly #entry: URL;
  readonly #limits: JobLimits;
  #worker: Worker | undefined;
  #deadline: CpuDeadline | undefined;
  #running: Running | undefined;

  constructor(entry: URL, limits: JobLimits) {
    this.#entry = entry;
    this.#limits = limits;
  }

  /**
   * Rejects with a `DomainError` when the job refuses, `JobCut` when it costs too much, else with
   * what went wrong.
   */
  run(job: Job): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#running = { found: undefined, resolve, reject };
    const worker = (this.#worker ??= this.#start());
    this.#deadline?.start();
    worker.postMessage(job);
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
    this.#deadline = new CpuDeadline(worker, cpuMs, () => this.#cut("time"));
    worker.on("message", (report: Report) => this.#hear(worker, report));
    worker.on("error", (error: unknown) => this.#fail(worker, error));
    worker.on("exit", (code) => this.#fail(worker, new Error(`a thread ended with code ${code}`)));
    return worker;
  }

  #hear(worker: Worker, report: Report): void {
    // What a thread said before it was cut may arrive after that.
    if (worker !== this.#worker) return;
    if ("progress" in report) {
      this.#deadline?.start();
      // Nothing found so far does not mean that nothing is wrong.
      if (this.#running && report.progress?.length) this.#running.found = report.progress;
      return;
    }
    const running = this.#settle();
    if ("done" in report) running?.resolve(report.done);
    else if ("failed" in report) running?.reject(new Error("a job failed", { cause: report.failed }));
    else running?.reject(new DomainError(report.refused.kind, report.refused.message, report.refused));
  }

  #fail(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return;
    if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") this.#cut("memory");
    else {
      this.#drop();
      this.#settle()?.reject(error);
    }
  }

  #cut(reason: JobCut["reason"]): void {
    const worker = this.#drop();
    const running = this.#settle();
    void worker?.terminate();
    running?.reject(new JobCut(reason, running.found));
  }

  #settle(): Running | undefined {
    this.#deadline?.stop();
    const running = this.#running;
    this.#running = undefined;
    return running;
  }

  /** The next job starts another thread. */
  #drop(): Worker | undefined {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#deadline?.stop();
    return worker;
  }
}

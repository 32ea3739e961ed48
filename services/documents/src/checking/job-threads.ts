import { DomainError } from "@vidimus/kit/errors";
import { Holdings } from "@vidimus/kit/fair/holdings";
import { TurnQueue } from "@vidimus/kit/fair/turn-queue";
import type { Job, JobShapes } from "./check-job.ts";
import { type JobLimits, JobThread } from "./job-thread.ts";

interface JobThreadsOptions extends JobLimits {
  readonly entry: URL;
  /** At least 2. */
  readonly threads: number;
}

interface Waiting {
  readonly job: Job;
  readonly signal: AbortSignal | undefined;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

/**
 * A tenant must rest after its jobs took this long in total while others of its jobs waited. Usual
 * batches take less.
 */
const restAfterMs = 20;
/**
 * Longest rest. Under high load the time of a job is mostly waiting for a CPU, so rests would be
 * too long without a limit.
 */
const restMsMax = 250;

/**
 * Does jobs in threads. Tenants alternate, and one tenant gets at most half of the threads, so that
 * jobs that use up their time leave the other half to other tenants.
 *
 * A tenant whose jobs queue up rests after them as long as they took, `restMsMax` at most, which
 * leaves up to half of its threads' time unused. The threads share cores with the event loops of
 * this and other processes, and without rests they would delay these event loops in spite of their
 * niceness.
 */
export class JobThreads implements AsyncDisposable {
  readonly #waiting = new TurnQueue<Waiting>();
  readonly #idle: JobThread[];
  readonly #all: readonly JobThread[];
  /** How many jobs of each tenant run, plus how many of its rests have not ended. */
  readonly #busy = new Holdings();
  /** Milliseconds that a tenant's jobs took since its last rest, or since none of them waited. */
  readonly #taken = new Map<string, number>();
  readonly #share: number;

  constructor({ entry, threads, ...limits }: JobThreadsOptions) {
    this.#all = Array.from({ length: threads }, () => new JobThread(entry, limits));
    this.#idle = [...this.#all];
    this.#share = Math.floor(threads / 2);
  }

  /**
   * Rejects as `JobThread.run` does, with the signal's reason when it aborts before the job has
   * started, and as `unavailable` when the service stops before that.
   */
  run<J extends Job>(tenantId: string, job: J, signal?: AbortSignal): Promise<JobShapes[J["kind"]]["result"]> {
    return new Promise((resolve, reject) => {
      const settle = (result: unknown) => resolve(result as JobShapes[J["kind"]]["result"]);
      this.#waiting.push(tenantId, { job, signal, resolve: settle, reject });
      this.#assign();
    });
  }

  /** Ends all threads, and rejects waiting and running jobs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#idle.length = 0;
    for (const tenantId of this.#waiting.keys()) {
      for (const { reject } of this.#waiting.take(tenantId, (line) => line.length)) {
        reject(new DomainError("unavailable", "the service stops"));
      }
    }
    await Promise.all(this.#all.map((thread) => thread[Symbol.asyncDispose]()));
  }

  #assign(): void {
    for (const tenantId of this.#waiting.keys()) {
      if (this.#idle.length === 0) return;
      if (this.#busy.of(tenantId) < this.#share)
        for (const next of this.#waiting.take(tenantId)) this.#begin(tenantId, next);
    }
  }

  #begin(tenantId: string, next: Waiting): void {
    const thread = next.signal?.aborted ? undefined : this.#idle.pop();
    if (thread) void this.#do(thread, tenantId, next);
    else next.reject(next.signal?.reason);
  }

  async #do(thread: JobThread, tenantId: string, { job, resolve, reject }: Waiting): Promise<void> {
    this.#busy.add(tenantId, 1);
    const started = performance.now();
    await thread.run(job).then(resolve, reject);
    this.#idle.push(thread);
    this.#end(tenantId, performance.now() - started);
    this.#assign();
  }

  #end(tenantId: string, tookMs: number): void {
    const taken = this.#waiting.countOf(tenantId) === 0 ? 0 : (this.#taken.get(tenantId) ?? 0) + tookMs;
    if (taken > 0 && taken < restAfterMs) this.#taken.set(tenantId, taken);
    else this.#taken.delete(tenantId);
    if (taken < restAfterMs) this.#busy.add(tenantId, -1);
    else setTimeout(() => this.#rested(tenantId), Math.min(taken, restMsMax)).unref();
  }

  #rested(tenantId: string): void {
    this.#busy.add(tenantId, -1);
    this.#assign();
  }
}

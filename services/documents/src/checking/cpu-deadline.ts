import type { Worker } from "node:worker_threads";

/** How often the thread's CPU time is read within a deadline. */
const looks = 4;
const wallFactor = 10;
/**
 * A thread counts as stalled when it gets at most this part of one deadline as CPU time while
 * `wallFactor` deadlines pass by the clock. On a busy machine a working thread gets little CPU
 * time, but more than this.
 */
const idleShare = 0.01;

/**
 * Why a job is ended: `time` when it used up its CPU time, `stalled` when it got next to none for
 * ten times that long by the clock.
 */
export type Overdue = "time" | "stalled";

/**
 * Calls `end` once a thread's job has used `deadlineMs` of CPU time, or has stalled. Waiting for a
 * CPU does not count as use, because on a busy machine a thread may wait long whatever its document
 * is. A job is ended at most half a deadline late; a short job costs one timer.
 */
export class CpuDeadline {
  readonly #worker: Pick<Worker, "cpuUsage">;
  readonly #deadlineMs: number;
  readonly #end: (reason: Overdue) => void;
  #timer: NodeJS.Timeout | undefined;
  #looked = 0;
  /** CPU milliseconds of the thread at the first reading since `start`. */
  #usedBefore: number | undefined;
  /** CPU milliseconds of the thread at the last reading that showed progress (see `idleShare`). */
  #usedAtProgress = 0;
  #run = 0;

  constructor(worker: Pick<Worker, "cpuUsage">, deadlineMs: number, end: (reason: Overdue) => void) {
    this.#worker = worker;
    this.#deadlineMs = deadlineMs;
    this.#end = end;
  }

  /** A deadline that runs already begins anew. */
  start(): void {
    this.stop();
    this.#looked = 0;
    this.#usedBefore = undefined;
    this.#lookLater(this.#run);
  }

  stop(): void {
    this.#run += 1;
    clearTimeout(this.#timer);
  }

  #lookLater(run: number): void {
    this.#timer = setTimeout(() => void this.#look(run), this.#deadlineMs / looks);
  }

  async #look(run: number): Promise<void> {
    const used = await cpuMs(this.#worker);
    // The job may have ended while its thread was asked.
    if (run !== this.#run) return;
    this.#looked += 1;
    this.#usedBefore ??= used;
    if (used - this.#usedAtProgress > this.#deadlineMs * idleShare) {
      this.#usedAtProgress = used;
      this.#looked = 0;
    }
    if (used - this.#usedBefore >= this.#deadlineMs) this.#end("time");
    else if (this.#looked > looks * wallFactor) this.#end("stalled");
    else this.#lookLater(run);
  }
}

/** Milliseconds of CPU that a thread has used since its start. A busy thread answers, too. */
async function cpuMs(worker: Pick<Worker, "cpuUsage">): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    // The thread has ended; its own events report that to the job.
    return 0;
  }
}

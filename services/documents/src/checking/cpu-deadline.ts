import type { Worker } from "node:worker_threads";

/** How often the thread's CPU time is read within a deadline. */
const looks = 4;
/** After this many deadlines by the clock a thread without CPU time is ended. */
const wallFactor = 10;
/**
 * A thread that got less CPU time than this part of the deadline counts as stalled. On a busy
 * machine it gets little, but more than this.
 */
const idleShare = 0.01;

/**
 * Why a job is ended: `time` when it used its CPU time, `stalled` when it got next to none for ten
 * deadlines by the clock.
 */
export type Overdue = "time" | "stalled";

/**
 * Ends a thread's job once it has used `deadlineMs` of CPU time. Time by the clock does not count,
 * because on a busy machine a thread may wait long for a CPU whatever its document is. A job is
 * ended at most half a deadline late; a short job costs one timer.
 */
export class CpuDeadline {
  readonly #worker: Pick<Worker, "cpuUsage">;
  readonly #deadlineMs: number;
  readonly #end: (reason: Overdue) => void;
  #timer: NodeJS.Timeout | undefined;
  #looked = 0;
  /** CPU milliseconds of the thread at the first check since `start`. */
  #usedBefore: number | undefined;
  /** CPU milliseconds at the last check at which the thread had not stalled. */
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

import type { Worker } from "node:worker_threads";

/** How often a deadline is looked at, in parts of itself. */
const looks = 4;
/** A thread that gets no CPU time is given up after so many deadlines by the clock. */
const wallFactor = 10;
/** What counts as none, as a part of the deadline. A busy machine gives a thread little, but more. */
const idleShare = 0.01;

/** Why a job is ended: it has used its CPU time, or it got none for ten times as long. */
export type Overdue = "time" | "stalled";

/**
 * Ends a thread's job after so much CPU time, not time by the clock: on a busy machine a thread may
 * stand still for long through no fault of its document. A job is cut at most half a deadline late;
 * a short one costs a timer.
 */
export class CpuDeadline {
  readonly #worker: Pick<Worker, "cpuUsage">;
  readonly #deadlineMs: number;
  readonly #end: (reason: Overdue) => void;
  #timer: NodeJS.Timeout | undefined;
  #looked = 0;
  /** Of the thread at the first look since the start, in ms. */
  #usedBefore: number | undefined;
  /** When it was last seen to get on. */
  #usedAtProgress = 0;
  #run = 0;

  constructor(worker: Pick<Worker, "cpuUsage">, deadlineMs: number, end: (reason: Overdue) => void) {
    this.#worker = worker;
    this.#deadlineMs = deadlineMs;
    this.#end = end;
  }

  /** Begins to count, or begins anew. */
  start(): void {
    this.stop();
    this.#looked = 0;
    this.#usedBefore = undefined;
    this.#lookLater(this.#run);
  }

  /** Counts no more. */
  stop(): void {
    this.#run += 1;
    clearTimeout(this.#timer);
  }

  #lookLater(run: number): void {
    this.#timer = setTimeout(() => void this.#look(run), this.#deadlineMs / looks);
  }

  async #look(run: number): Promise<void> {
    const used = await cpuMs(this.#worker);
    // The job ended while the thread was asked.
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

/** Milliseconds of CPU a thread has used in its life; it answers even while it computes. */
async function cpuMs(worker: Pick<Worker, "cpuUsage">): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    // The thread has ended; its job is told so by the thread's own events.
    return 0;
  }
}

import { status as Status } from "@grpc/grpc-js";

/** A server is silent when it owes an answer and has sent none for this time. */
export const silentMs = 100;

/**
 * Codes with which the client itself may end a call, so they do not show that the server is alive.
 */
const ownEnds: ReadonlySet<Status> = new Set([Status.CANCELLED, Status.DEADLINE_EXCEEDED, Status.UNAVAILABLE]);

/** One server behind a channel, and whether it answers prompt calls (`markPrompt`). */
export class Replica {
  /** Number of prompt calls without an answer. */
  #owed = 0;
  /**
   * Time of its last answer, or of the call with which it began to owe answers if that is later.
   */
  #quietSinceMs = 0;

  noteCall(nowMs: number): void {
    if (this.#owed === 0) this.#quietSinceMs = nowMs;
    this.#owed += 1;
  }

  noteEnd(code: Status, nowMs: number): void {
    this.#owed -= 1;
    if (!ownEnds.has(code)) this.#quietSinceMs = nowMs;
  }

  /** Milliseconds for which the server has owed answers and sent none; 0 when it owes none. */
  quietMs(nowMs: number): number {
    return this.#owed > 0 ? nowMs - this.#quietSinceMs : 0;
  }
}

/** The connected servers of a channel. */
export class Replicas {
  #connected: readonly Replica[] = [];

  /** Called by the balancer when a server was connected or lost. */
  set(connected: readonly Replica[]): void {
    this.#connected = connected;
  }

  get isAny(): boolean {
    return this.#connected.length > 0;
  }

  /**
   * Whether a server is silent while another one answers. Servers that are equally slow, because
   * the machine or the database is, do not count, although one always becomes silent a moment
   * before the others.
   */
  hasDetour(nowMs: number): boolean {
    const quiet = this.#connected.map((each) => each.quietMs(nowMs));
    const most = Math.max(...quiet);
    return most >= silentMs && Math.min(...quiet) < most / 2;
  }
}

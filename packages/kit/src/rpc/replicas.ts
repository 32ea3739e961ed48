import { status as Status } from "@grpc/grpc-js";

/** A server that owes an answer and has sent none for this time is silent. */
export const silentMs = 100;

/** Ends that the client can make itself; they do not show that the server is alive. */
const ownEnds: ReadonlySet<Status> = new Set([Status.CANCELLED, Status.DEADLINE_EXCEEDED, Status.UNAVAILABLE]);

/** One server behind a channel: whether it answers, as far as its prompt calls show. */
export class Replica {
  /** Prompt calls without an answer. */
  #owed = 0;
  /** When it last answered while others were owed, or when it began to owe answers. */
  #quietSinceMs = 0;

  /** Notes that a prompt call was sent. */
  noteCall(nowMs: number): void {
    if (this.#owed === 0) this.#quietSinceMs = nowMs;
    this.#owed += 1;
  }

  /** Notes the end of a prompt call. */
  noteEnd(code: Status, nowMs: number): void {
    this.#owed -= 1;
    if (!ownEnds.has(code)) this.#quietSinceMs = nowMs;
  }

  /** How long it has owed answers and sent none. */
  quietMs(nowMs: number): number {
    return this.#owed > 0 ? nowMs - this.#quietSinceMs : 0;
  }
}

/** The connected servers of a channel. */
export class Replicas {
  #connected: readonly Replica[] = [];

  /** Replaces the servers when one was connected or lost. */
  set(connected: readonly Replica[]): void {
    this.#connected = connected;
  }

  /** Whether a call has any server to go to. */
  get isAny(): boolean {
    return this.#connected.length > 0;
  }

  /**
   * Whether a server is silent while another one answers. Servers that are equally slow, because
   * the machine or the database is, do not count: one is silent a moment before the others.
   */
  hasDetour(nowMs: number): boolean {
    const quiet = this.#connected.map((each) => each.quietMs(nowMs));
    const most = Math.max(...quiet);
    return most >= silentMs && Math.min(...quiet) < most / 2;
  }
}

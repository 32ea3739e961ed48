import { TurnQueue } from "@vidimus/kit/queues/turn-queue";

/** Bytes of bodies that are read in one turn of the event loop, which takes 2 ms of CPU. */
const turnBytesMax = 1024 * 1024;
/** How many bodies go on in the next turn; each of them brings at least 64 KiB, as Node reads. */
const turnBodiesMax = 16;

/** A body that is being received. */
interface Body {
  pause(): unknown;
  resume(): unknown;
}

/**
 * Shares the event loop between the bodies that arrive at once. Node reads all that has arrived on
 * all connections in one turn: 60 bodies of 1 MB held up every other request for 130 ms. Bodies that
 * come when 1 MiB was read wait for later turns, in which tenants take turns.
 */
export class ReadTurns {
  readonly #waiting = new TurnQueue<Body>();
  #bytes = 0;
  #isScheduled = false;

  /** Counts a piece that was read. The body is paused when this turn has had its bytes. */
  count(tenantId: string, body: Body, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > turnBytesMax) {
      body.pause();
      this.#waiting.push(tenantId, body);
    }
    this.#schedule();
  }

  /** Forgets a body that is read no more; the caller decides whether it flows. */
  leave(tenantId: string, body: Body): void {
    this.#waiting.remove(tenantId, body);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isScheduled = false;
    this.#bytes = 0;
    for (let resumed = 0; resumed < turnBodiesMax && !this.#waiting.isEmpty; resumed += 1) {
      this.#waiting.shift()?.resume();
    }
    if (!this.#waiting.isEmpty) this.#schedule();
  }
}

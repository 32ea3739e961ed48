import type { ServerResponse } from "node:http";
import type { Counter } from "prom-client";
import { Pace } from "../../limits/pace.ts";

const tickMs = 1_000;

/**
 * Most credit, in bytes. Progress is counted by what the kernel takes from us, and it takes more
 * only when a third of its send buffer is free. On loopback, with the largest buffers, it took 1.4
 * MiB at once and then nothing for 45 s while the client read 32 KiB/s.
 */
const creditMax = 1024 * 1024;

interface Draining {
  readonly endsAt: number;
  readonly pace: Pace;
  lastAt: number;
  lastBytes: number;
}

/** Cuts the connection of an answer that its client reads too slowly or takes too long to read. */
export class DrainWatch implements Disposable {
  readonly #answers = new Map<ServerResponse, Draining>();
  readonly #cut: Counter<"reason">;
  readonly #timer = setInterval(() => this.#tick(), tickMs).unref();

  constructor(cut: Counter<"reason">) {
    this.#cut = cut;
  }

  /** Watches an answer from now until its end, which must come within `endMsMax`. */
  watch(response: ServerResponse, endMsMax: number): void {
    const now = performance.now();
    const lastBytes = response.socket?.bytesWritten ?? 0;
    this.#answers.set(response, { endsAt: now + endMsMax, pace: new Pace(creditMax), lastAt: now, lastBytes });
    response.once("close", () => this.#answers.delete(response));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    for (const [response, draining] of this.#answers) {
      const reason = cutReason(response, draining, now);
      if (!reason) continue;
      this.#answers.delete(response);
      this.#cut.inc({ reason });
      // A reset makes the kernel drop the unread bytes at once.
      response.socket?.resetAndDestroy();
    }
  }
}

function cutReason(response: ServerResponse, draining: Draining, now: number): "slow" | "late" | undefined {
  const bytes = response.socket?.bytesWritten ?? draining.lastBytes;
  // When no byte waits for the client, the answer's source is slow, not the client.
  const waitedMs = waitsForReader(response) ? now - draining.lastAt : 0;
  const keepsUp = draining.pace.keepsUp(bytes - draining.lastBytes, waitedMs);
  draining.lastAt = now;
  draining.lastBytes = bytes;
  if (!keepsUp) return "slow";
  return now >= draining.endsAt ? "late" : undefined;
}

function waitsForReader(response: ServerResponse): boolean {
  return response.writableNeedDrain || (response.writableEnded && !response.writableFinished);
}

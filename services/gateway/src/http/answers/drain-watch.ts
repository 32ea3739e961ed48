import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Counter } from "prom-client";
import { Pace } from "../pace.ts";

const tickMs = 1_000;

/**
 * Most credit of a reader (`Pace`), in bytes: 64 s at the slowest pace. Progress is measured by
 * what the kernel takes, and the kernel takes more only when a third of its send buffer is free. On
 * loopback with the largest buffers the kernel took 1.4 MiB at once and then nothing for 45 s,
 * while the client read 32 KiB/s.
 */
const creditMax = 1024 * 1024;

interface Draining {
  /** Set even while the answer waits behind earlier ones on its connection. */
  readonly socket: Socket;
  endsAt: number;
  readonly pace: Pace;
  lastAt: number;
  lastBytes: number;
}

/** Resets the connection of an answer that its client reads too slowly or for too long. */
export class DrainWatch implements Disposable {
  readonly #answers = new Map<ServerResponse, Draining>();
  readonly #cut: Counter<"reason">;
  readonly #timer = setInterval(() => this.#tick(), tickMs).unref();

  constructor(cut: Counter<"reason">) {
    this.#cut = cut;
  }

  /**
   * Watches an answer until its end, which must come within `endMsMax` after earlier answers on the
   * connection were sent, because pipelined answers are sent one after the other.
   */
  watch(response: ServerResponse, endMsMax: number): void {
    const { socket } = response.req;
    const now = performance.now();
    const pace = new Pace(creditMax);
    const draining = { socket, endsAt: Infinity, pace, lastAt: now, lastBytes: socket.bytesWritten };
    const begin = () => (draining.endsAt = performance.now() + endMsMax);
    if (response.socket) begin();
    else response.once("socket", begin);
    this.#answers.set(response, draining);
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
      draining.socket.resetAndDestroy();
    }
  }
}

function cutReason(response: ServerResponse, draining: Draining, now: number): "slow" | "late" | undefined {
  const bytes = draining.socket.bytesWritten;
  // When no byte waits for the client, the source of the answer is slow, not the client.
  const waitedMs = waitsForReader(response, draining.socket) ? now - draining.lastAt : 0;
  const keepsUp = draining.pace.keepsUp(bytes - draining.lastBytes, waitedMs);
  draining.lastAt = now;
  draining.lastBytes = bytes;
  if (!keepsUp) return "slow";
  return now >= draining.endsAt ? "late" : undefined;
}

function waitsForReader(response: ServerResponse, socket: Socket): boolean {
  if (!response.socket) return socket.writableLength > 0;
  return response.writableNeedDrain || (response.writableEnded && !response.writableFinished);
}

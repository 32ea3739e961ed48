import type { FastifyReply, FastifyRequest } from "fastify";
import { Readable } from "node:stream";
import { Counter, type Registry } from "prom-client";
import type { SharedPool } from "../../limits/shared-pool.ts";
import { type Answer, bodyBytes, bodyPieces, type BufferedBody } from "./answer.ts";
import { exportWindowBytes } from "../../upstream/export-window.ts";
import { DrainWatch } from "./drain-watch.ts";
import { sendAnswer } from "./send-answer.ts";

/** A smaller answer fits into the kernel's send buffer and takes no part of the pool. */
const smallBytesMax = 16 * 1024;
/**
 * Answers are given to the socket in slices of this size, so that the bytes its reader took can be
 * counted.
 */
const sliceBytes = 64 * 1024;
/**
 * Most that a streamed answer holds while its reader takes nothing: the window of its call, and 512
 * KiB of pieces between the call and the socket.
 */
const streamBytes = exportWindowBytes + 512 * 1024;
const endMsMax = { buffered: 60_000, streamed: 600_000 };

/**
 * Sends answers. Those of more than 16 KiB take their size from a pool that tenants share until
 * their readers have them, and are cut when that takes too long.
 */
export class AnswerBuffers implements Disposable {
  readonly #pool: SharedPool;
  readonly #watch: DrainWatch;
  /** Answers that hold a part of the pool. */
  readonly #reserved = new WeakSet<FastifyReply>();

  constructor(pool: SharedPool, registry: Registry) {
    this.#pool = pool;
    const cut = new Counter({
      name: "vidimus_answers_cut_total",
      help: "Answers whose reader took less than 16 KiB a second (slow) or took too long over all of it (late).",
      labelNames: ["reason"],
      registers: [registry],
    });
    this.#watch = new DrainWatch(cut);
  }

  /**
   * Reserves what a streamed answer will hold, until the exchange is over. Throws `exhausted` or
   * `unavailable` when the pool has no room for it: whatever the answer costs elsewhere is not
   * spent then.
   */
  reserveStream(request: FastifyRequest, reply: FastifyReply): void {
    if (request.method !== "HEAD") this.#reserve(request, reply, streamBytes);
  }

  /**
   * Sends an answer. Throws `exhausted` or `unavailable`, before its first byte, when the pool has
   * no room for it and none was reserved. The answer to a write takes no part of the pool: the
   * write was done, and the largest answer, a phrase with its mistakes, has 60 KiB.
   */
  send(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
    const bytes = request.method === "GET" ? heldBytes(answer) : 0;
    if (bytes <= smallBytesMax) return sendAnswer(request, reply, answer);
    const streamed = typeof answer.body === "function";
    if (!(streamed && this.#reserved.has(reply))) this.#reserve(request, reply, bytes);
    this.#watch.watch(reply.raw, streamed ? endMsMax.streamed : endMsMax.buffered);
    return sendAnswer(request, reply, bytes > sliceBytes ? sliced(answer) : answer);
  }

  #reserve(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
    // The client left before its answer began: "close" would not come again to give the part back.
    if (reply.raw.closed) return;
    const tenantId = request.caller?.tenantId ?? "";
    this.#pool.take(tenantId, bytes);
    this.#reserved.add(reply);
    reply.raw.once("close", () => this.#pool.give(tenantId, bytes));
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
  }
}

function heldBytes({ body }: Answer): number {
  if (body === undefined) return 0;
  return typeof body === "function" ? streamBytes : bodyBytes(body);
}

/** The same answer as a stream of slices. */
function sliced(answer: Answer): Answer {
  const { body } = answer;
  if (body === undefined || typeof body === "function") return answer;
  const headers = { ...answer.headers, "content-length": String(bodyBytes(body)) };
  return { ...answer, headers, body: () => Readable.from(slices(body), { objectMode: false }) };
}

function* slices(body: BufferedBody): Generator<Uint8Array> {
  for (const piece of bodyPieces(body)) {
    for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes);
  }
}

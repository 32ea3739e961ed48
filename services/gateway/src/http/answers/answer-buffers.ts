import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { Pools } from "../../pools/pools.ts";
import { takeAll } from "../../pools/shared-pool.ts";
import { type Answer, bodyBytes, bodyStream, sliceBytes } from "./answer.ts";
import type { AnswerEncoder } from "./answer-encoder.ts";
import { exportWindowBytes } from "./export-window.ts";
import { DrainWatch } from "./drain-watch.ts";
import { readAhead } from "./read-ahead.ts";
import { sendAnswer } from "./send-answer.ts";

/** A smaller answer fits into the kernel's send buffer and is not counted in the pool. */
const smallBytesMax = 16 * 1024;
/**
 * Most bytes that a streamed answer holds while its reader reads nothing: the window of its call,
 * and 512 KiB of pieces between the call and the socket.
 */
const streamBytes = exportWindowBytes + 512 * 1024;
/** Sending this many bytes takes as long as all other work of a request. */
const requestBytes = 512 * 1024;
const endMsMax = { buffered: 60_000, streamed: 600_000 };

/**
 * Compresses and sends answers. The answer to a GET reserves its size, if that is more than 16 KiB,
 * in a pool that tenants share. The reservation ends when the exchange is over. Such an answer is
 * cut off when its reader takes too long.
 */
export class AnswerBuffers implements Disposable {
  readonly #pools: Pick<Pools, "answers" | "streams">;
  readonly #encoder: AnswerEncoder;
  readonly #watch: DrainWatch;
  readonly #reserved = new WeakSet<FastifyReply>();

  constructor(pools: Pick<Pools, "answers" | "streams">, encoder: AnswerEncoder, registry: Registry) {
    this.#pools = pools;
    this.#encoder = encoder;
    const cut = new Counter({
      name: "vidimus_answers_cut_total",
      help: "Answers whose reader took less than 16 KiB a second (slow) or took too long over all of it (late).",
      labelNames: ["reason"],
      registers: [registry],
    });
    this.#watch = new DrainWatch(cut);
  }

  /**
   * Reserves what a streamed answer will hold, until the exchange is over. Throws RATE_LIMITED or
   * UNAVAILABLE when a pool has no capacity, before other services are called for the answer.
   * Reserves nothing for HEAD. With `If-None-Match`, `prepare` makes the reservation if the copy of
   * the client is outdated.
   */
  reserveStream(request: FastifyRequest, reply: FastifyReply): void {
    const { method, headers } = request;
    if (method !== "HEAD" && headers["if-none-match"] === undefined) this.#reserve(request, reply, "stream");
  }

  /**
   * Reserves what an answer will hold until it is sent, opens it if it is a stream, and compresses
   * it. Throws RATE_LIMITED or UNAVAILABLE when the pool has no capacity and nothing was reserved
   * before. Answers to writes are not counted in the pool: the write was already done, and the
   * largest of them, a phrase with its mistakes, has at most 60 KiB.
   */
  prepare(request: FastifyRequest, reply: FastifyReply, answer: Answer): Answer | Promise<Answer> {
    const held = request.method === "GET" ? heldBy(answer) : 0;
    const isLarge = held === "stream" || held > smallBytesMax;
    if (isLarge && !this.#reserved.has(reply)) this.#reserve(request, reply, held);
    // A stream whose client has left is not opened, because no reservation is held for it.
    if (held !== "stream" || reply.raw.closed) return this.#encoder.encode(request, answer);
    return this.#begin(request, reply, answer);
  }

  /** When the client leaves, the stream fails, which must not be logged as a failed request. */
  async #begin(request: FastifyRequest, reply: FastifyReply, answer: Answer): Promise<Answer> {
    try {
      return await this.#encoder.encode(request, await readAhead(answer));
    } catch (error) {
      if (reply.raw.closed) return answer;
      throw error;
    }
  }

  /**
   * The work of sending an answer, measured in requests; 0 for answers below 512 KiB and for
   * streams.
   */
  weightOf(answer: Answer): number {
    const held = heldBy(answer);
    return held === "stream" ? 0 : Math.floor(held / requestBytes);
  }

  send(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
    const held = heldBy(answer);
    return sendAnswer(request, reply, held !== "stream" && held > sliceBytes ? sliced(answer) : answer);
  }

  #reserve(request: FastifyRequest, reply: FastifyReply, held: Held): void {
    // When the client has left, "close" would not be emitted again, so the reservation would never
    // be released.
    if (reply.raw.closed) return;
    const tenantId = request.caller?.tenantId ?? "";
    const { answers, streams } = this.#pools;
    const give =
      held === "stream" ? takeAll(tenantId, [streams, 1], [answers, streamBytes]) : takeAll(tenantId, [answers, held]);
    reply.raw.once("close", give);
    this.#watch.watch(reply.raw, held === "stream" ? endMsMax.streamed : endMsMax.buffered);
    this.#reserved.add(reply);
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
  }
}

/** What an answer holds while its reader reads nothing, in bytes; "stream" means `streamBytes`. */
type Held = "stream" | number;

function heldBy({ body }: Answer): Held {
  if (body === undefined) return 0;
  return typeof body === "function" ? "stream" : bodyBytes(body);
}

function sliced(answer: Answer): Answer {
  const { body } = answer;
  if (body === undefined || typeof body === "function") return answer;
  const headers = { ...answer.headers, "content-length": String(bodyBytes(body)) };
  return { ...answer, headers, body: () => bodyStream(body) };
}

import type { Dispatcher } from "undici";

/** The part of a receiver's answer that was read. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Its body, up to and with the chunk that reaches 16 KiB. */
  readonly beginning: Buffer;
}

/** No status came before the deadline. */
export class LateAnswerError extends Error {
  override readonly name = "LateAnswerError";
}

const answerReadBytesMax = 16 * 1024;

/**
 * Makes a request and reads its answer to the end, or to 16 KiB, or to the deadline. At these two
 * limits it closes the connection, because reading on could take forever. A received status counts
 * even when the body breaks off.
 *
 * It handles undici's events directly: undici's `request` makes a stream, an iterator and listeners
 * of a signal for each answer, which costs more than the request itself.
 *
 * @param withinMs from now to the end of the answer
 * @throws LateAnswerError at the deadline, when no status has come; errors of undici and the
 * agent's lookup
 */
export function requestAnswer(
  agent: Pick<Dispatcher, "dispatch">,
  request: Dispatcher.DispatchOptions,
  withinMs: number,
): Promise<Answer> {
  const reader = new AnswerReader(withinMs);
  agent.dispatch(request, reader);
  return reader.answer;
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: Error) => void;
  readonly #deadline: NodeJS.Timeout;
  /** Present once the request has a connection. */
  #controller: Dispatcher.DispatchController | undefined;
  #head: Pick<Answer, "status" | "retryAfter"> | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Set when the deadline or the limit of 16 KiB has ended the request. */
  #cut: Error | undefined;

  constructor(withinMs: number) {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    const late = () => this.#stop(new LateAnswerError(`no whole answer within ${withinMs / 1_000} s`));
    this.#deadline = setTimeout(late, withinMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The deadline passed while the request waited for a connection, so the request is not sent.
    if (this.#cut) controller.abort(this.#cut);
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    const { "retry-after": retryAfter } = headers;
    this.#head = { status, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter };
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    if (this.#bytes >= answerReadBytesMax) this.#stop(new Error("the answer is too long"));
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#end(error);
  }

  #stop(cut: Error): void {
    this.#cut = cut;
    this.#end(cut);
    this.#controller?.abort(cut);
  }

  /** Has no effect when there is an outcome already. */
  #end(error?: Error): void {
    clearTimeout(this.#deadline);
    if (!this.#head) return this.#reject(error ?? new Error("the answer has no status"));
    this.#resolve({ ...this.#head, beginning: Buffer.concat(this.#chunks) });
  }
}

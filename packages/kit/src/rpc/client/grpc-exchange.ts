import { ConnectError, Code } from "@connectrpc/connect";
import { validateTrailer } from "@connectrpc/connect/protocol-grpc";
import { type Channel, type Metadata, status as Status, type StatusObject } from "@grpc/grpc-js";
import { withLostAnswer } from "./lost-answer.ts";
import { toHeaders } from "../wire/metadata.ts";

export interface CallOrder {
  readonly channel: Channel;
  readonly path: string;
  /** Milliseconds since 1970, or Infinity. */
  readonly deadline: number;
  readonly metadata: Metadata;
  readonly body: Buffer;
  readonly signal: AbortSignal | undefined;
}

/**
 * One call with one request on a grpc-js channel. It uses `Channel.createCall`, because grpc-js's
 * client adds an emitter, a listener and a stack trace to each call, which are not used here.
 */
export class GrpcExchange {
  readonly #call: ReturnType<Channel["createCall"]>;
  readonly #signal: AbortSignal | undefined;
  readonly #cancel = () => this.cancel();
  #metadata: Metadata | undefined;
  #status: StatusObject | undefined;
  #message: Buffer | undefined;
  #wake = () => {};

  /**
   * Starts the call. Throws a ConnectError, as `finish` does, when the signal has aborted already.
   */
  constructor({ channel, path, deadline, metadata, body, signal }: CallOrder) {
    if (signal?.aborted) throw reasonOf(signal);
    this.#signal = signal;
    this.#call = channel.createCall(path, deadline, null, null, null);
    signal?.addEventListener("abort", this.#cancel, { once: true });
    this.#call.start(metadata, this);
    this.#call.sendMessageWithContext({}, body);
    this.#call.halfClose();
  }

  onReceiveMetadata(metadata: Metadata): void {
    this.#metadata = metadata;
    this.#wake();
  }

  onReceiveMessage(message: Buffer): void {
    this.#message = message;
    this.#wake();
  }

  onReceiveStatus(status: StatusObject): void {
    this.#status = status.code === Status.OK ? status : withLostAnswer(status);
    this.#signal?.removeEventListener("abort", this.#cancel);
    this.#wake();
  }

  /** Has no effect when the call has ended. */
  cancel(): void {
    this.#call.cancelWithStatus(Status.CANCELLED, "the caller left");
  }

  /** Resolves when the header has arrived or the call has ended. */
  async opened(): Promise<void> {
    while (!this.#metadata && !this.#status) await this.#change();
  }

  /** Reads the next message; undefined at the end of the call. Must not be called concurrently. */
  async read(): Promise<Buffer | undefined> {
    if (!this.#status) this.#call.startRead();
    while (!this.#message && !this.#status) await this.#change();
    const message = this.#message;
    this.#message = undefined;
    return message;
  }

  /** Returns the message of a unary call, after the call has ended. */
  async readOnly(): Promise<Buffer | undefined> {
    this.#call.startRead();
    while (!this.#status) await this.#change();
    return this.#message;
  }

  /**
   * Throws a ConnectError when the call has failed. After an abort the error is the signal's
   * reason, or `Canceled` when that is no ConnectError; else it has the details and metadata.
   */
  finish(): void {
    const status = this.#status;
    if (status?.code === Status.OK) return;
    if (this.#signal?.aborted) throw reasonOf(this.#signal);
    const trailer = this.trailer;
    validateTrailer(trailer, this.header);
    // The status failed although grpc-status-details-bin has code OK.
    throw new ConnectError(status?.details ?? "", Code.Unknown, trailer);
  }

  /** Made at each access, because most callers never read it. */
  get header(): Headers {
    return toHeaders(this.#metadata);
  }

  get trailer(): Headers {
    const trailer = toHeaders(this.#status?.metadata);
    trailer.set("grpc-status", String(this.#status?.code));
    trailer.set("grpc-message", encodeURIComponent(this.#status?.details ?? ""));
    return trailer;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

const reasonOf = (signal: AbortSignal) => ConnectError.from(signal.reason, Code.Canceled);

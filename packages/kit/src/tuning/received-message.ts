/**
 * grpc-js keeps what `deserialize` returns until the call has ended: this small object instead of
 * the bytes of the request.
 */
export class ReceivedMessage {
  #bytes: Buffer | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Returns the bytes and drops the reference to them. Throws a TypeError at the second call. */
  take(): Buffer {
    const bytes = this.#bytes;
    if (!bytes) throw new TypeError("the request was taken before");
    this.#bytes = undefined;
    return bytes;
  }
}

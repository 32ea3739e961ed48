/**
 * A request as grpc-js received it. grpc-js keeps what `deserialize` returns until the call has
 * ended, so that it keeps this object and not the bytes.
 */
export class ReceivedMessage {
  #bytes: Buffer | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Returns the bytes and lets go of them. Throws a TypeError at the second time. */
  take(): Buffer {
    const bytes = this.#bytes;
    if (!bytes) throw new TypeError("the request was taken before");
    this.#bytes = undefined;
    return bytes;
  }
}

/**
 * Drops the pieces from which a request was joined. grpc-js would keep them until the call has
 * ended, so that a request of 10 MiB takes 20. The field is private, and grpc-js has no option for
 * it.
 *
 * @param wire a call as grpc-js passes it to a handler
 * @throws TypeError when grpc-js has no such field
 */
export function dropPieces(wire: object): void {
  const decoder = memberOf(memberOf(wire, "call"), "decoder");
  if (!Array.isArray(memberOf(decoder, "readPartialMessage"))) {
    throw new TypeError("grpc-js has changed: no readPartialMessage");
  }
  Reflect.set(Object(decoder), "readPartialMessage", []);
}

const memberOf = (owner: unknown, name: string): unknown => Reflect.get(Object(owner), name);

export interface HttpMessage {
  /** Everything before the empty line. */
  readonly head: string;
  /** A body in chunks still has the lines with the sizes of its chunks. */
  body(): string;
}

const lastChunk = "\r\n0\r\n\r\n";

/**
 * Reads HTTP/1.1 messages from a connection at a small part of the measured server's cost. It does
 * not parse chunks: a body in chunks counts as complete when what arrived ends with the bytes of an
 * empty chunk. Understands no trailers and no pipelining.
 */
export class MessageReader {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #head: string | undefined;
  /** Bytes of the whole message; undefined when its body comes in chunks. */
  #length: number | undefined;

  /** Adds what arrived. Returns the message once it is complete. */
  push(chunk: Buffer): HttpMessage | undefined {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const head = this.#head ?? this.#readHead();
    if (head === undefined) return undefined;
    const length = this.#length ?? (this.#endsInLastChunk() ? this.#bytes : Number.POSITIVE_INFINITY);
    if (this.#bytes < length) return undefined;
    if (this.#bytes > length) throw new Error("bytes came after the end of a message");
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
    this.#head = undefined;
    return { head, body: () => Buffer.concat(chunks).toString("utf8", Buffer.byteLength(head, "latin1") + 4) };
  }

  #readHead(): string | undefined {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const end = bytes?.indexOf("\r\n\r\n") ?? -1;
    if (bytes === undefined || end < 0) return undefined;
    this.#head = bytes.toString("latin1", 0, end);
    const isChunked = headerOf(this.#head, "transfer-encoding") === "chunked";
    this.#length = isChunked ? undefined : end + 4 + Number(headerOf(this.#head, "content-length") ?? 0);
    return this.#head;
  }

  #endsInLastChunk(): boolean {
    const last = Buffer.concat(this.#chunks.slice(-lastChunk.length));
    return last.toString("latin1", Math.max(0, last.length - lastChunk.length)) === lastChunk;
  }
}

export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`\\r\\n${name}: ([^\\r]*)`, "i").exec(head)?.[1];
}

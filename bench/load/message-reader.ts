export interface HttpMessage {
  /** Everything before the empty line. */
  readonly head: string;
  body(): string;
}

/**
 * Reads HTTP/1.1 messages from a connection at a small part of the measured server's cost.
 * Understands only Content-Length, and no pipelining.
 */
export class MessageReader {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #head: string | undefined;
  #length = 0;

  /** Adds what arrived. Returns the message once it is complete. */
  push(chunk: Buffer): HttpMessage | undefined {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const head = this.#head ?? this.#readHead();
    if (head === undefined || this.#bytes < this.#length) return undefined;
    if (this.#bytes > this.#length) throw new Error("bytes came after the end of a message");
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
    this.#length = end + 4 + Number(headerOf(this.#head, "content-length") ?? 0);
    return this.#head;
  }
}

export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`\\r\\n${name}: ([^\\r]*)`, "i").exec(head)?.[1];
}

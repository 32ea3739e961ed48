import type { FastifyRequest } from "fastify";
import { type Answer, bodyBytes, bodyPieces, bodyStream, type BufferedBody, type StreamedBody } from "./answer.ts";
import { chooseEncoding, type Encoding } from "./choose-encoding.ts";
import { compressAside, compressNow, compressStream } from "./compress.ts";
import { EncodedCopies } from "./encoded-copies.ts";

/** A smaller answer fits into one packet without compression. */
const encodedBytesMin = 1024;
/** Compressing up to this size takes less time than passing it to another thread. */
const nowBytesMax = 8 * 1024;
/**
 * A larger answer is compressed while it is sent, because all its compressed bytes at once would
 * take memory in addition to it.
 */
const wholeBytesMax = 1024 * 1024;
const copiesBytesMax = 32 * 1024 * 1024;

export class AnswerEncoder {
  readonly #copies = new EncodedCopies(copiesBytesMax);

  /** Changes nothing for HEAD, below 1 KiB, and for clients that accept neither brotli nor gzip. */
  encode(request: Pick<FastifyRequest, "method" | "headers">, answer: Answer): Answer | Promise<Answer> {
    const { body } = answer;
    if (body === undefined || request.method === "HEAD") return answer;
    const header = request.headers["accept-encoding"];
    const encoding = chooseEncoding(Array.isArray(header) ? header.join(",") : header);
    if (!encoding) return answer;
    if (typeof body === "function") return encoded(answer, encoding, () => compressStream(body(), encoding));
    const bytes = bodyBytes(body);
    if (bytes < encodedBytesMin) return answer;
    if (answer.shared || bytes > nowBytesMax) return this.#encodeLarge(answer, body, bytes, encoding);
    return encoded(answer, encoding, compressNow(wholeOf(body), encoding));
  }

  async #encodeLarge(answer: Answer, body: BufferedBody, bytes: number, encoding: Encoding): Promise<Answer> {
    if (bytes > wholeBytesMax) {
      const stream = () => compressStream(bodyStream(body), encoding);
      return encoded(answer, encoding, stream);
    }
    const { shared } = answer;
    const compressed = shared
      ? this.#copies.get(shared, bodyPieces(body), encoding)
      : compressAside(wholeOf(body), encoding);
    return encoded(answer, encoding, await compressed);
  }
}

function encoded(answer: Answer, encoding: Encoding, body: Buffer | StreamedBody): Answer {
  return { ...answer, headers: { ...answer.headers, "content-encoding": encoding }, body };
}

function wholeOf(body: BufferedBody): Buffer {
  return typeof body === "string" ? Buffer.from(body) : Buffer.concat(bodyPieces(body));
}

import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { HttpError } from "./http-error.ts";
import type { BodyRule } from "./route.ts";

const timeoutMsDefault = 10_000;

/**
 * The media type of a body that a route can take, without parameters. Throws UNSUPPORTED_MEDIA_TYPE for another type,
 * another charset than UTF-8 or an encoding, PAYLOAD_TOO_LARGE for an announced length beyond the rule: both before a
 * byte of the body is read.
 */
export function acceptBody(headers: IncomingHttpHeaders, rule: BodyRule): string {
  const [mediaType = "", ...parameters] = (headers["content-type"] ?? "").split(";").map((part) => part.trim());
  const type = mediaType.toLowerCase();
  if (!rule.types.includes(type)) throw unsupported(`Content-Type must be ${rule.types.join(" or ")}`);
  for (const parameter of parameters) {
    const [, charset] = /^charset\s*=\s*"?([^"]*)"?$/i.exec(parameter) ?? [];
    if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw unsupported("the charset must be utf-8");
  }
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw unsupported(`Content-Encoding ${encoding} is not accepted`, { "accept-encoding": "identity" });
  }
  if (Number(headers["content-length"] ?? 0) > rule.bytesMax) throw tooLarge(rule.bytesMax);
  return type;
}

/** Memory for bodies that are being received or worked on, so that many large ones at once cannot exhaust the process. */
export class BodyMemory {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes bytes; false when there is no room for them. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * Reads a body whole. Rejects with PAYLOAD_TOO_LARGE beyond the rule, REQUEST_TIMEOUT when the client is too slow,
 * INVALID_PAYLOAD when it goes away. What is left of a refused body is let through unread, so that the client
 * can finish sending and see the answer.
 */
export function readBody(
  stream: Readable,
  rule: BodyRule,
  take: (bytes: number) => boolean = () => true,
): Promise<Buffer> {
  const timeoutMs = rule.timeoutMs ?? timeoutMsDefault;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      stream.off("data", collect).off("end", end).off("error", lost).off("close", lost);
      stream.on("error", () => {}).resume();
      finish();
    };
    const refuse = (error: HttpError) => settle(() => reject(error));
    const collect = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > rule.bytesMax) return refuse(tooLarge(rule.bytesMax));
      if (!take(chunk.length)) return refuse(noRoom());
      chunks.push(chunk);
    };
    const end = () => settle(() => resolve(Buffer.concat(chunks, bytes)));
    const lost = () => refuse(new HttpError("INVALID_PAYLOAD", "the body ended early"));
    const timer = setTimeout(() => refuse(tooSlow(timeoutMs)), timeoutMs);
    stream.on("data", collect).on("end", end).on("error", lost).on("close", lost);
  });
}

function unsupported(message: string, headers: Record<string, string> = {}): HttpError {
  return new HttpError("UNSUPPORTED_MEDIA_TYPE", message, { headers });
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError("PAYLOAD_TOO_LARGE", `the body must not be larger than ${bytesMax} bytes`);
}

function tooSlow(timeoutMs: number): HttpError {
  const message = `the body did not arrive within ${timeoutMs / 1000} s`;
  return new HttpError("REQUEST_TIMEOUT", message, { headers: { connection: "close" } });
}

function noRoom(): HttpError {
  return new HttpError("UNAVAILABLE", "too many large requests at once", { headers: { "retry-after": "1" } });
}

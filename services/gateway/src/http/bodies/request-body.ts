import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { MIMEType } from "node:util";
import { HttpError } from "../../errors/http-error.ts";
import { BodyPieces } from "@vidimus/kit/tuning/body-pieces";
import { Pace } from "../pace.ts";
import type { BodyRule } from "../route.ts";

export const timeoutMsDefault = 10_000;
const paceCheckMs = 1_000;

/**
 * A longer Content-Type is refused unparsed. A real one with every parameter has about 60
 * characters.
 */
const contentTypeCharsMax = 256;

/**
 * Checks the headers of a body against the route's rule, before any byte is read. Returns the media
 * type of the body without parameters. Throws UNSUPPORTED_MEDIA_TYPE for another type, a charset
 * other than UTF-8 or an encoding, and PAYLOAD_TOO_LARGE for an announced length above the rule's.
 */
export function acceptBody(headers: IncomingHttpHeaders, rule: BodyRule): string {
  const given = parseMediaType(headers["content-type"] ?? "");
  if (!given || !rule.types.includes(given.essence)) {
    throw unsupported(`Content-Type must be ${rule.types.join(" or ")}`);
  }
  if (!/^utf-?8$/i.test(given.params.get("charset") ?? "utf-8")) throw unsupported("the charset must be utf-8");
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw unsupported(`Content-Encoding ${encoding} is not accepted`, { "accept-encoding": "identity" });
  }
  if (Number(headers["content-length"] ?? 0) > rule.bytesMax) throw tooLarge(rule);
  return given.essence;
}

/**
 * Reads a whole body, and passes each piece to `take` before keeping it. Rejects with errors of
 * `take`, with an HttpError that the stream emits, with PAYLOAD_TOO_LARGE above the rule's length,
 * REQUEST_TIMEOUT when the client is too slow, INVALID_PAYLOAD when it leaves. The rest of a
 * refused body is discarded.
 */
export function readBody(stream: IncomingMessage, rule: BodyRule, take: (piece: Buffer) => void): Promise<Buffer> {
  const timeoutMs = rule.timeoutMs ?? timeoutMsDefault;
  return new Promise((resolve, reject) => {
    const announced = stream.headers["content-length"];
    const pieces = new BodyPieces(announced === undefined ? undefined : Number(announced));
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      stopPacing();
      stream.off("data", collect).off("end", end).off("error", lost).off("close", lost);
      stream.on("error", () => {}).resume();
      finish();
      pieces.free();
    };
    const refuse = (error: unknown) => settle(() => reject(error));
    const collect = (piece: Buffer) => {
      try {
        if (pieces.bytes + piece.length > rule.bytesMax) throw tooLarge(rule);
        take(piece);
      } catch (error) {
        return refuse(error);
      }
      pieces.add(piece);
    };
    const end = () => settle(() => resolve(pieces.whole()));
    const lost = (error?: unknown) => refuse(error instanceof HttpError ? error : endedEarly());
    const timer = setTimeout(() => refuse(tooSlow(`did not arrive within ${timeoutMs / 1000} s`)), timeoutMs);
    const stopPacing = requirePace(
      () => pieces.bytes,
      () => refuse(tooSlow("arrives too slowly")),
    );
    stream.on("data", collect).on("end", end).on("error", lost).on("close", lost);
  });
}

/**
 * Calls `onSlow` when a body arrives more slowly than `Pace` allows. Returns a function that ends
 * the check.
 */
function requirePace(bytesSoFar: () => number, onSlow: () => void): () => void {
  const body = new Pace();
  let before = 0;
  const timer = setInterval(() => {
    const bytes = bytesSoFar();
    if (!body.keepsUp(bytes - before, paceCheckMs)) onSlow();
    before = bytes;
  }, paceCheckMs);
  return () => clearInterval(timer);
}

function endedEarly(): HttpError {
  return new HttpError("INVALID_PAYLOAD", "the body ended early", { headers: { connection: "close" } });
}

function parseMediaType(text: string): MIMEType | undefined {
  if (text.length > contentTypeCharsMax) return undefined;
  try {
    return new MIMEType(text);
  } catch {
    return undefined;
  }
}

function unsupported(message: string, headers: Record<string, string> = {}): HttpError {
  return new HttpError("UNSUPPORTED_MEDIA_TYPE", message, { headers });
}

export function tooLarge({ types, bytesMax }: BodyRule): HttpError {
  const rule = types.length === 0 ? "this path takes no body" : `the body must not be larger than ${bytesMax} bytes`;
  return new HttpError("PAYLOAD_TOO_LARGE", rule);
}

function tooSlow(how: string): HttpError {
  return new HttpError("REQUEST_TIMEOUT", `the body ${how}`, { headers: { connection: "close" } });
}

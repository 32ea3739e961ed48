import { Readable } from "node:stream";
import type { SharedName } from "./encoded-copies.ts";
import { type HeaderSource, holdsCopy } from "./etag.ts";
import { type HttpError, statusOf } from "../../errors/http-error.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Present when the first bytes of a streamed body determine the headers. Called once these bytes
   * are there; the result replaces `headers`.
   */
  readonly headersOnceBegun?: () => Readonly<Record<string, string>>;
  /**
   * An array holds the pieces of one body. A function opens a stream. It is not called for HEAD,
   * nor when the client has left.
   */
  readonly body: BufferedBody | StreamedBody | undefined;
  /** Present when many readers get these bytes: up to 1 MiB, their compressed copy is cached. */
  readonly shared?: SharedName;
}

export type StreamedBody = () => AsyncIterable<Uint8Array>;

export type BufferedBody = string | Buffer | readonly Uint8Array[];

export function bodyBytes(body: BufferedBody): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  return bodyPieces(body).reduce((sum, piece) => sum + piece.byteLength, 0);
}

export function bodyPieces(body: BufferedBody): readonly Uint8Array[] {
  if (typeof body === "string") return [Buffer.from(body)];
  return body instanceof Uint8Array ? [body] : body;
}

/**
 * A larger answer is sent in slices of this size. Node counts a buffer as written as a whole, so
 * `DrainWatch` could not see how much of an unsliced answer its reader took.
 */
export const sliceBytes = 64 * 1024;

/** The body as a stream of slices of at most `sliceBytes`. */
export function bodyStream(body: BufferedBody): Readable {
  return Readable.from(slices(body), { objectMode: false });
}

function* slices(body: BufferedBody): Generator<Uint8Array> {
  for (const piece of bodyPieces(body)) {
    for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes);
  }
}

const json = "application/json; charset=utf-8";

/** The success of a write, `{"ok":true,"data":…}`, which no cache may store. */
export function ok(status: 200 | 201, data: object): Answer {
  return {
    status,
    headers: { "content-type": json, "cache-control": "no-store" },
    body: JSON.stringify({ ok: true, data }),
  };
}

export interface CacheRule {
  readonly etag: string;
  readonly cacheControl: string;
  /** Whether a service has found that the client has the copy, and has therefore sent no body. */
  readonly notModified?: boolean;
}

/**
 * The JSON of a read with its entity tag; 304 when the rule says `notModified`, or when the
 * request's `If-None-Match` names the tag.
 */
export function cacheable(request: HeaderSource, rule: CacheRule, body: () => BufferedBody): Answer {
  const { etag, cacheControl } = rule;
  if (rule.notModified || holdsCopy(request, etag)) return notModified(etag, cacheControl);
  return { status: 200, headers: { "content-type": json, "cache-control": cacheControl, etag }, body: body() };
}

export function notModified(etag: string, cacheControl: string): Answer {
  return { status: 304, headers: { "cache-control": cacheControl, etag }, body: undefined };
}

/**
 * `{"ok":false,"error":…}`.
 *
 * @param help URL of the page that explains the codes, each at an anchor of its name
 */
export function refused({ code, message, details, headers }: HttpError, help?: string): Answer {
  const error = { code, message, ...(details.length > 0 ? { details } : {}) };
  return {
    status: statusOf[code],
    headers: {
      "content-type": json,
      "cache-control": "no-store",
      ...(help === undefined ? {} : { link: `<${help}#${code}>; rel="help"` }),
      ...headers,
    },
    body: JSON.stringify({ ok: false, error }),
  };
}

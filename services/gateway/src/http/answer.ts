import type { Readable } from "node:stream";
import { type HttpError, statusOf } from "./http-error.ts";

/** What a handler answers. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is opened only when its bytes are wanted: not for HEAD. */
  readonly body: string | Buffer | (() => Readable) | undefined;
}

const json = "application/json; charset=utf-8";

/** `{"ok":true,"data":…}`, for writes: never stored by anybody. */
export function written(status: 200 | 201, data: object): Answer {
  return {
    status,
    headers: { "content-type": json, "cache-control": "no-store" },
    body: JSON.stringify({ ok: true, data }),
  };
}

/** A body of JSON that caches may keep under a weak entity tag. `cacheControl` says for how long. */
export function tagged(body: string | Buffer, etag: string, cacheControl: string): Answer {
  return { status: 200, headers: { "content-type": json, "cache-control": cacheControl, etag }, body };
}

/** The copy the client holds is still good. */
export function notModified(etag: string, cacheControl: string): Answer {
  return { status: 304, headers: { "cache-control": cacheControl, etag }, body: undefined };
}

/** `{"ok":false,"error":…}`. */
export function refused({ code, message, details, headers }: HttpError): Answer {
  const error = { code, message, ...(details.length > 0 ? { details } : {}) };
  return {
    status: statusOf[code],
    headers: { "content-type": json, "cache-control": "no-store", ...headers },
    body: JSON.stringify({ ok: false, error }),
  };
}

/** Every error code of the public API, with its HTTP status. */
export const statusOf = {
  INVALID_PAYLOAD: 400,
  INVALID_QUERY: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  GONE: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  TIMEOUT: 504,
} as const;

export type ErrorCode = keyof typeof statusOf;

/** An entry of `error.details` in an answer, for example a pointer into the body. */
export type ErrorDetail = Readonly<Record<string, string | number>>;

/** An error of the public API. Its message is shown to the client. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: readonly ErrorDetail[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { headers?: Record<string, string>; details?: readonly ErrorDetail[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.headers = options.headers ?? {};
    this.details = options.details ?? [];
  }
}

export const inOneSecond = { headers: { "retry-after": "1" } };

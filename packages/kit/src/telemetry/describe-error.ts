import { MongoError } from "mongodb";

/** An error as it is logged, without stored data, requests or answers. */
interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  /** The errors of an AggregateError. */
  readonly errors?: readonly ErrorDescription[];
  readonly cause?: ErrorDescription;
  /** The properties of `loggedProperties` that the error has. */
  readonly [property: string]: unknown;
}

/**
 * Beside its type, message, stack and causes, only these properties of an error are logged, because
 * they carry no payload. A list of excluded properties would miss some: the MongoDB driver alone
 * puts rows into `writeErrors[].op`, `result`, `errorResponse`, `errInfo` and `keyValue`.
 */
const loggedProperties = ["code", "codeName", "kind", "errno", "syscall", "address", "port", "status", "statusCode"];

/**
 * Causes are followed to this depth, because the description of an error that is its own cause
 * would never end.
 */
const depthMax = 5;

/**
 * Describes an error for a log line. A thrown value that is not an Error is logged by its type
 * only.
 */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: "thrown without an Error", stack: "" };
  const message = safeMessage(error);
  const logged = loggedProperties.flatMap((name) => {
    const value: unknown = Reflect.get(error, name);
    return typeof value === "string" || typeof value === "number" ? [[name, value] as const] : [];
  });
  return {
    ...Object.fromEntries(logged),
    type: error.constructor.name,
    message,
    stack: `${error.name}: ${message}\n${framesOf(error)}`,
    ...(depth < depthMax && nested(error, depth + 1)),
  };
}

/**
 * Formats an error for stderr: its stack, then the stack of each error in an AggregateError, then
 * the stack of each cause.
 */
export function errorText(error: unknown): string {
  const { stack, message, errors = [], cause } = describeError(error);
  const causes = [...errors, ...chain(cause)];
  return [stack || message, ...causes.map((each) => `caused by ${each.stack}`)].join("\n");
}

function nested(error: Error, depth: number): Pick<ErrorDescription, "errors" | "cause"> {
  const { cause } = error;
  return {
    ...(error instanceof AggregateError && { errors: error.errors.map((each) => describeError(each, depth)) }),
    ...(cause !== undefined && { cause: describeError(cause, depth) }),
  };
}

function chain(description: ErrorDescription | undefined): ErrorDescription[] {
  return description ? [description, ...chain(description.cause)] : [];
}

/** MongoDB's messages quote rows in braces: `… dup key: { tenantId: "acme", slug: "ferry" }`. */
function safeMessage(error: Error): string {
  return error instanceof MongoError ? error.message.replace(/\{.*$/s, "{…}") : error.message;
}

function framesOf({ stack = "" }: Error): string {
  const lines = stack.split("\n");
  const first = lines.findIndex((line) => /^\s+at /.test(line));
  return first === -1 ? "" : lines.slice(first).join("\n");
}

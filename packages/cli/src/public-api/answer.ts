import { CliError } from "../cli-error.ts";
import { withViolations } from "../terminal/with-violations.ts";
import { isJsonObject } from "../json-object.ts";
import type { Answer } from "./send-with-retries.ts";

/** A request to the public API that was refused or has no answer. */
export class ApiError extends CliError {
  /**
   * Whether other requests would most likely fail, too: the key is refused or lacks a scope, a
   * limit is reached, or the gateway or the service behind it is away.
   */
  readonly failsAll: boolean;

  constructor(message: string, failsAll: boolean, cause?: unknown) {
    super(message, { cause });
    this.failsAll = failsAll;
  }
}

/** The members of an answer's envelope that commands use. */
interface Envelope {
  /** `data.id` of a success. */
  id?: unknown;
  /** `error.code` of a refusal. */
  code?: string;
  message: string;
  violations: { pointer: string; message: string }[];
}

/**
 * Reads the envelope of an answer; undefined without one, because then something other than Vidimus
 * answered.
 */
export function readEnvelope(body: string): Envelope | undefined {
  const value = readBody(body);
  if (value === undefined) return undefined;
  const { data, error } = value;
  if (isJsonObject(data)) return { id: data["id"], message: "", violations: [] };
  if (!isJsonObject(error) || typeof error["code"] !== "string") return undefined;
  const { code, message, details } = error;
  return { code, message: typeof message === "string" ? message : "", violations: readViolations(details) };
}

/** The body of an answer; undefined unless it is a JSON object. */
export function readBody(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Describes an answer that is no success, with the platform's message if it has one. */
export function apiError({ status, headers, body }: Answer, url: string): ApiError {
  const envelope = readEnvelope(body);
  const isTemporary = status === 429 || status === 503;
  const failsAll = isTemporary || status === 401 || status === 403;
  if (!envelope?.code) return new ApiError(`${url} answered ${status} without an error of Vidimus`, failsAll);
  const wait = isTemporary
    ? `; asked to wait ${headers.get("retry-after") ?? "some"} s, which --max-wait does not allow`
    : "";
  const message = `${envelope.code}: ${withViolations(`${envelope.message}${wait}`, envelope.violations)}`;
  return new ApiError(message, failsAll);
}

function readViolations(details: unknown): Envelope["violations"] {
  if (!Array.isArray(details)) return [];
  return details.filter(isJsonObject).flatMap(({ pointer, message }) => {
    return typeof pointer === "string" && typeof message === "string" ? [{ pointer, message }] : [];
  });
}

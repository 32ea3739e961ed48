import { Code, ConnectError } from "@connectrpc/connect";
import type { ErrorKind } from "@vidimus/kit/errors";
import { asDomainError, fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Html } from "../markup/html.ts";
import { ForeignForm, WrongHost } from "./request-checks.ts";
import type { Person } from "./route.ts";

export interface ErrorText {
  readonly title: string;
  readonly detail: string;
  /** What the reader can do about it, in a sentence. */
  readonly next?: string;
}

export interface FailedRequest {
  readonly id: string;
  /** Undefined without a session, and until the route has read the session. */
  readonly person: Person | undefined;
  readonly url: string;
}

export type ErrorPage = (text: ErrorText, request: FailedRequest) => Html;

const statuses: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  gone: 410,
  already_exists: 409,
  conflict: 409,
  failed_precondition: 409,
  exhausted: 429,
  too_large: 413,
  unavailable: 503,
  deadline_exceeded: 503,
};

interface Refusal {
  readonly status: number;
  readonly text: ErrorText;
}

const pathUnknown: Refusal = {
  status: 404,
  text: { title: "Page not found", detail: "There is nothing at this address." },
};
export const requestUnreadable: ErrorText = {
  title: "Not understood",
  detail: "The console cannot read this request.",
};
const unreadable: Refusal = { status: 400, text: requestUnreadable };
const broken: Refusal = {
  status: 500,
  text: {
    title: "Something is broken",
    detail:
      "This is a fault of the platform, not yours. Its logs say what happened, under the id of the request below.",
  },
};

/**
 * Answers every error of a request with a page. Logs bugs, and services and databases that do not
 * answer.
 */
export function handleErrors(app: FastifyInstance, log: Logger, errorPage: ErrorPage): void {
  app.setErrorHandler((error, request, reply) => {
    const isLeft = hasLeft(error, request);
    const { status, text } = isLeft ? unreadable : refusalOf(error);
    if (isLeft) {
      // Logged here, because the framework runs no hook after an answer that cannot be sent.
      const { id: requestId, method, routeOptions } = request;
      const ms = Math.round(reply.elapsedTime * 10) / 10;
      log.info({ method, route: routeOptions.url ?? "", status, ms, requestId }, "request");
    }
    if (status === 500) log.error({ requestId: request.id, err: error }, "request failed");
    if (status === 503) log.warn({ requestId: request.id, err: error }, "a service cannot be reached");
    if (status === 503 || status === 429) void reply.header("retry-after", "5");
    const page = errorPage(text, request);
    return reply.code(status).type("text/html; charset=utf-8").send(page.toString());
  });
  app.setNotFoundHandler((request, reply) => {
    const page = errorPage(pathUnknown.text, request);
    return reply.code(pathUnknown.status).type("text/html; charset=utf-8").send(page.toString());
  });
}

/**
 * Whether the connection ended before the request was read, while an upload waited for its turn, or
 * while a service was asked. Node reports the first as ECONNRESET, which would look like a database
 * that does not answer; the others end by the request's signal, which would look like a bug.
 */
function hasLeft(error: unknown, { raw }: FastifyRequest): boolean {
  return raw.destroyed && (!raw.complete || isAbort(error));
}

function isAbort(error: unknown): boolean {
  if (error instanceof ConnectError) return error.code === Code.Canceled;
  return error instanceof Error && error.name === "AbortError";
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof WrongHost) {
    const detail = "The address in your browser is not the one that this console serves.";
    return { status: 421, text: { title: "Not this console", detail } };
  }
  if (error instanceof ForeignForm) {
    const detail = "This form was not sent by a page of this console, so nothing was done.";
    return { status: 403, text: { title: "Refused", detail } };
  }
  const known = asDomainError(error) ?? fromConnectError(error);
  if (known) return { status: statuses[known.kind], text: textOf(known.kind, known.message) };
  return fromFramework(error) ?? broken;
}

/**
 * The refusal for a 4xx error of the framework, such as a body that is too large; undefined for any
 * other error.
 */
function fromFramework(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  const status = Number(error.statusCode);
  if (!(status >= 400 && status < 500)) return undefined;
  return { status, text: requestUnreadable };
}

function textOf(kind: ErrorKind, message: string): ErrorText {
  const detail = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  switch (kind) {
    case "unavailable":
    case "deadline_exceeded":
      return {
        title: "The platform does not answer",
        detail: `${detail} You are still signed in, and nothing of yours is lost.`,
        next: "If you have sent a form, see first whether it has taken effect, and then send it again.",
      };
    case "permission_denied":
      return { title: "Not allowed", detail };
    case "not_found":
    case "gone":
      return { title: "Not found", detail };
    case "invalid":
    case "unauthenticated":
    case "already_exists":
    case "conflict":
    case "failed_precondition":
    case "exhausted":
    case "too_large":
      return { title: "Not done", detail };
  }
}

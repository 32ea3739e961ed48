import type { CallOptions } from "@connectrpc/connect";
import type { Caller } from "../access/key-verifier.ts";
import type { Scope } from "../access/scopes.ts";
import type { Static, TSchema } from "typebox";
import type { Answer } from "./answers/answer.ts";
import type { ErrorCode, ErrorDetail } from "../errors/http-error.ts";
import type { Wait } from "../pools/long-poll-limiter.ts";

/**
 * A request as a handler sees it: authenticated, authorised, charged to the write budget if it is a
 * write, with a validated URL.
 */
export interface Call<Query = unknown, Params = unknown> {
  /** On open routes every field is empty. */
  readonly caller: Caller;
  readonly query: Query;
  readonly params: Params;
  /** Unparsed; empty on routes without a body. */
  readonly body: Buffer;
  /** Rows of the body that the route's scan counted; 0 on routes without a scan. */
  readonly bodyRows: number;
  /** Media type of the body, lowercase, without parameters; "" on routes without a body. */
  readonly mediaType: string;
  /** A request header, by its lowercase name. */
  header(name: string): string | undefined;
  /** Identity and deadline for calls to services on behalf of this request. */
  readonly rpc: CallOptions;
  /**
   * Makes a signal that aborts when the answer is over: completely sent, cut off, or its client
   * gone.
   */
  gone(): AbortSignal;
  /**
   * Runs a poll that may wait for a change. Throws before the poll begins: RATE_LIMITED above the
   * tenant's share of long polls, UNAVAILABLE when their pool is exhausted or the gateway stops.
   */
  longPoll<T>(poll: (wait: Wait) => Promise<T>): Promise<T>;
}

/**
 * A handler throws its failures; `errors/error-table.ts` maps DomainError, HttpError and
 * ConnectError to their answers.
 */
export type Handler<Query = unknown, Params = unknown> = {
  // Declared as a method, so that a handler with a typed query is assignable to `Handler`. The
  // route's schema ensures the type.
  handle(call: Call<Query, Params>): Promise<Answer>;
}["handle"];

/** Examines a body while it arrives. */
export interface BodyScan {
  /** Throw to refuse the body; the rest of it is then discarded. */
  add(chunk: Buffer): void;
  /** Rows that have begun so far. */
  readonly rows: number;
}

export interface BodyRule {
  /** Media types without parameters; others get 415. */
  readonly types: readonly string[];
  /** Most bytes; a larger body gets 413. */
  readonly bytesMax: number;
  /** Milliseconds that the client may take to send the body; 10 s by default. */
  readonly timeoutMs?: number;
  /**
   * Starts the scan of a body with this media type; for routes whose charge depends on the number
   * of rows.
   */
  scan?(mediaType: string): BodyScan;
}

/** Errors by code, each with an example: its message, or its message and details. */
export type ErrorExamples = Partial<
  Readonly<Record<ErrorCode, string | { readonly message: string; readonly details: readonly ErrorDetail[] }>>
>;

/** A route's part of the API description. */
interface RouteDoc {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * From media type to the body's schema. The schema only describes: the handler or a service
   * validates the body.
   */
  readonly body?: Readonly<Record<string, { readonly schema: TSchema; readonly example: unknown }>>;
  readonly success: {
    readonly status: 200 | 201;
    readonly description: string;
    /**
     * Headers that the success and a 304 have besides those of every route, from name to
     * description.
     */
    readonly headers?: Readonly<Record<string, string>>;
    readonly content: Readonly<Record<string, { readonly schema: TSchema; readonly example: unknown }>>;
  };
  /**
   * Errors besides those that `error-examples.ts` has for every route of this scope, body and
   * method.
   */
  readonly errors?: ErrorExamples;
}

export interface Route<Deps, Query extends TSchema = TSchema, Params extends TSchema = TSchema> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With Fastify's parameters, for example `/v1/phrases/:id`. */
  readonly url: string;
  /**
   * The scope that a key needs, or `open` when no key is needed. The gateway does not start with an
   * open `/v1` route.
   */
  readonly scope: Scope | "open";
  /**
   * Validates the query as strings, without coercion; unknown and repeated parameters are refused.
   */
  readonly query?: Query;
  readonly params?: Params;
  readonly body?: BodyRule;
  /**
   * Whether the route's answers are streams. If so, `AnswerBuffers.reserveStream` is called before
   * the handler, and may refuse the request.
   */
  readonly streams?: true;
  readonly doc: RouteDoc;
  readonly handler: (deps: Deps) => Handler<Static<Query>, Static<Params>>;
}

/** Types a route: the handler's query and parameters get the types of its schemas. */
export function defineRoute<Deps, Query extends TSchema = TSchema, Params extends TSchema = TSchema>(
  route: Route<Deps, Query, Params>,
): Route<Deps, Query, Params> {
  return route;
}

import type { CallOptions } from "@connectrpc/connect";
import type { Caller } from "../domain/key-verifier.ts";
import type { Scope } from "../domain/scope.ts";
import type { Static, TSchema } from "typebox";
import type { Answer } from "./answer.ts";
import type { ErrorCode } from "./http-error.ts";

/** A request as a handler sees it: authenticated, authorised, within its budget, its URL validated. */
export interface Call<Query = unknown, Params = unknown> {
  /** On open routes nobody: every field is empty. */
  readonly caller: Caller;
  readonly query: Query;
  readonly params: Params;
  /** As it came, unparsed; empty on routes that take none. */
  readonly body: Buffer;
  /** Media type of the body, lowercase, without parameters; "" on routes that take none. */
  readonly mediaType: string;
  /** A request header, by its lowercase name. */
  header(name: string): string | undefined;
  /** For calls to services on behalf of this request: identity and deadline. */
  readonly rpc: CallOptions;
  /**
   * Runs work that only waits for something to happen. Its signal aborts when the client goes away or the process stops;
   * the result is then undefined, as it is, at once, when too many requests wait already: answer without it.
   */
  wait<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined>;
}

/** Answers calls. Failures are thrown: a DomainError, an HttpError or a ConnectError finds its envelope. */
export type Handler<Query = unknown, Params = unknown> = {
  // As a method, so that a handler of typed queries is a handler: the schema beside it makes the types true.
  handle(call: Call<Query, Params>): Promise<Answer>;
}["handle"];

/** What a route takes as a body. */
export interface BodyRule {
  /** Media types without parameters; another one is 415. */
  readonly types: readonly string[];
  /** A larger one is 413. */
  readonly bytesMax: number;
  /** How long the client may take to send it; 10 s unless said. */
  readonly timeoutMs?: number;
}

/** What a route says about itself to readers of the API description. */
export interface RouteDoc {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Schema of the body, by media type. The body's service validates it. */
  readonly body?: Readonly<Record<string, { readonly schema: TSchema; readonly example: unknown }>>;
  /** The answer of success. */
  readonly success: {
    readonly status: 200 | 201;
    readonly description: string;
    readonly content: Readonly<Record<string, { readonly schema: TSchema; readonly example: unknown }>>;
  };
  /** Errors beyond those that come with a scope, a query or a body, each with an example of its message. */
  readonly errors?: Partial<Readonly<Record<ErrorCode, string>>>;
}

/** One endpoint. `Deps` is what its handler needs, as narrow as it is. */
export interface Route<Deps, Query extends TSchema = TSchema, Params extends TSchema = TSchema> {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With Fastify's parameters, for example `/v1/phrases/:id`. */
  readonly url: string;
  /** What a key needs; `open` for everybody. A `/v1` route is never open: the gateway does not start with one. */
  readonly scope: Scope | "open";
  /** Validates the query as strings, without coercion; unknown and repeated parameters are refused. */
  readonly query?: Query;
  /** Validates the parameters of the path. */
  readonly params?: Params;
  readonly body?: BodyRule;
  readonly doc: RouteDoc;
  readonly handler: (deps: Deps) => Handler<Static<Query>, Static<Params>>;
}

/** Names a route so that its handler's types come from its schemas. */
export function defineRoute<Deps, Query extends TSchema = TSchema, Params extends TSchema = TSchema>(
  route: Route<Deps, Query, Params>,
): Route<Deps, Query, Params> {
  return route;
}

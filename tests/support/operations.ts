import { routes } from "@vidimus/gateway/endpoints/routes";
import { randomUUID } from "node:crypto";

/**
 * An operation of the public API with a valid example of a call, read from the gateway's own
 * routes.
 */
export interface Operation {
  readonly method: string;
  /** With parameters, for example `/v1/phrases/:id`. */
  readonly url: string;
  /** `open` when no key is needed. */
  readonly scope: string;
  /** First media type of the body, with a valid body; absent on operations without a body. */
  readonly body?: { readonly type: string; readonly example: unknown };
  /** Required query parameters, with a valid value each. */
  readonly query: Readonly<Record<string, string>>;
}

interface QuerySchema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
}

export const operations: readonly Operation[] = routes.map(toOperation);

function toOperation(route: (typeof routes)[number]): Operation {
  const { method, url, scope, body, doc } = route;
  const { required = [], properties = {} } = ("query" in route ? route.query : {}) as QuerySchema;
  const query = Object.fromEntries(required.map((name) => [name, properties[name]?.enum?.[0] ?? "2026-01-01"]));
  const type = body?.types[0];
  if (type === undefined) return { method, url, scope, query };
  return { method, url, scope, query, body: { type, example: doc.body?.[type]?.example } };
}

/** The operations under /v1: those that need a key. */
export const v1Operations = operations.filter(({ url }) => url.startsWith("/v1/"));

/** The parts of a call that differ from the operation's example. */
interface Variation {
  /** Authorization as it is sent; none when absent. */
  readonly authorization?: string;
  /** Value of every parameter in the path except `:n`, which is a number. */
  readonly pathValue?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Calls an operation by its example, except for the variation. */
export function callOperation(gateway: string, operation: Operation, variation: Variation = {}): Promise<Response> {
  const { authorization, pathValue = randomUUID(), query, body } = variation;
  const path = operation.url.replaceAll(/:\w+/g, (name) => (name === ":n" ? "1" : encodeURIComponent(pathValue)));
  const search = new URLSearchParams({ ...operation.query, ...query }).toString();
  return fetch(`${gateway}${path}${search && `?${search}`}`, {
    method: operation.method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(operation.body ? { "content-type": operation.body.type } : {}),
    },
    ...(operation.body ? { body: body ?? exampleBody(operation) } : {}),
  });
}

/** The operation's own example as a body, with a fresh id where it has one. CSV goes as it is. */
export function exampleBody({ body }: Operation, extra: object = {}): string {
  const example = body?.example;
  if (typeof example === "string") return example;
  if (typeof example !== "object" || example === null || Array.isArray(example)) return JSON.stringify(example);
  return JSON.stringify({ ...example, ...("id" in example ? { id: randomUUID() } : {}), ...extra });
}

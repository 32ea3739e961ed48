import { scopes } from "../access/scopes.ts";
import { type ErrorCode, statusOf } from "../errors/http-error.ts";
import type { PoolSize } from "../pools/pool-size.ts";
import { poolExhausted, shareInUse } from "../pools/pool-errors.ts";
import type { ErrorExamples, Route } from "../http/route.ts";
import { tagGroups, tagOf } from "./api-tags.ts";
import { describeWebhooks } from "./describe-webhooks.ts";
import { errorExamples } from "./error-examples.ts";
import { publicSchema } from "./public-schema.ts";

/** Revision of the public contract; CHANGELOG.md says what each one changed. */
const contractRevision = "0.1.0";

type Json = Readonly<Record<string, unknown>>;

/**
 * The API description in OpenAPI 3.1, made from the routes: the schemas and rules with which the
 * gateway validates requests, and each route's `doc`.
 */
export function describeApi(routes: readonly Route<never>[]): Json {
  const paths = Map.groupBy(routes, ({ url }) => url.replace(/:(\w+)/g, "{$1}"));
  return {
    openapi: "3.1.0",
    info: {
      title: "Vidimus public API",
      version: contractRevision,
      description:
        "Push documents in, read what is published, keep a dictionary, and verify signed snapshots. " +
        "Act on the HTTP status where you do not know an error's code: more codes may come.",
    },
    servers: [{ url: "/" }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    "x-tagGroups": tagGroups.map(({ name, tags: ofGroup }) => ({ name, tags: ofGroup.map((tag) => tag.name) })),
    paths: Object.fromEntries(Array.from(paths, ([path, ofPath]) => [path, pathItem(ofPath)])),
    webhooks: describeWebhooks(),
    components: { securitySchemes: { apiKey }, schemas: { Error: errorSchema }, headers },
  };
}

const tags = tagGroups.flatMap((group) => group.tags);

const apiKey = {
  type: "http",
  scheme: "bearer",
  bearerFormat: "vk_<prefix>_<secret>",
  description: `A key has only the scopes that were granted to it: ${scopes.join(", ")}.`,
};

const errorSchema = {
  type: "object",
  required: ["ok", "error"],
  properties: {
    ok: { const: false },
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string", examples: Object.keys(statusOf) },
        message: { type: "string" },
        details: {
          type: "array",
          items: {
            type: "object",
            properties: {
              pointer: { type: "string", description: "JSON pointer into the body." },
              message: { type: "string" },
              line: { type: "integer", minimum: 1, description: "Of a CSV." },
              index: { type: "integer", minimum: 0, description: "Of an array." },
              reason: { type: "string", description: "The case in one word, where there are cases to tell apart." },
              replayId: { type: "string", format: "uuid", description: "The replay that runs." },
            },
          },
        },
      },
    },
  },
};

const headers = {
  RequestId: { description: "Names this exchange in logs.", schema: { type: "string", format: "uuid" } },
  RetryAfter: { description: "Seconds to wait.", schema: { type: "integer", minimum: 1 } },
  WwwAuthenticate: { schema: { const: "Bearer" } },
  RateLimit: {
    description: "What is left: r, and the seconds to the reset: t. Not where a share is in use.",
    schema: { type: "string" },
  },
  RateLimitPolicy: { description: "The limit: q in w seconds.", schema: { type: "string" } },
  Allow: { description: "The methods of this path.", schema: { type: "string" } },
  Link: { description: "Explains the code: rel=help.", schema: { type: "string" } },
  ETag: { description: "Weak tag of the answer.", schema: { type: "string" } },
};

const requestId = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };

function pathItem(routes: readonly Route<never>[]): Json {
  return Object.fromEntries(routes.map((route) => [route.method.toLowerCase(), operation(route)]));
}

function operation(route: Route<never>): Json {
  const { scope, doc } = route;
  const parameters = [...parametersOf(route.params, "path"), ...parametersOf(route.query, "query")];
  return {
    operationId: doc.operationId,
    summary: doc.summary,
    ...(doc.description ? { description: doc.description } : {}),
    tags: [tagOf(route)],
    security: scope === "open" ? [] : [{ apiKey: [scope] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(doc.body ? { requestBody: { required: true, content: contentOf(doc.body) } } : {}),
    responses: responsesOf(route),
  };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

function parametersOf(schema: ObjectSchema | undefined, location: "path" | "query"): Json[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    in: location,
    required: schema?.required?.includes(name) ?? false,
    // Undefined members are left out of the JSON.
    description: property.description,
    // Left out here, because the parameter has the description.
    schema: publicSchema({ ...property, description: undefined }),
  }));
}

function contentOf(content: NonNullable<Route<never>["doc"]["body"]>): Json {
  const entries = Object.entries(content).map(([type, { schema, example }]) => [
    type,
    { schema: publicSchema(schema), example },
  ]);
  return Object.fromEntries(entries);
}

function responsesOf(route: Route<never>): Json {
  const { success } = route.doc;
  const etag = { ETag: { $ref: "#/components/headers/ETag" } };
  const own = ownHeaders(success.headers ?? {});
  const reading = route.method === "GET";
  const ok = {
    description: success.description,
    headers: { ...requestId, ...(reading ? etag : {}), ...own },
    content: contentOf(success.content),
  };
  const unchanged = { description: "The copy you hold is still good.", headers: { ...requestId, ...etag, ...own } };
  const byStatus = Map.groupBy(entriesOf(errorExamples(route)), ([code]) => statusOf[code]);
  return {
    [success.status]: ok,
    ...(reading ? { 304: unchanged } : {}),
    ...Object.fromEntries(Array.from(byStatus, ([status, errors]) => [status, errorResponse(status, errors)])),
  };
}

function ownHeaders(headers: Readonly<Record<string, string>>): Json {
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    { description, required: true, schema: { type: "string" } },
  ]);
  return Object.fromEntries(described);
}

type ErrorExample = NonNullable<ErrorExamples[ErrorCode]>;

function errorResponse(status: number, errors: readonly (readonly [ErrorCode, ErrorExample])[]): Json {
  const examples = errors.map(([code, example]) => {
    const error = typeof example === "string" ? { code, message: example } : { code, ...example };
    return [code, { value: { ok: false, error } }];
  });
  return {
    description: errors.map(([code]) => code).join(" or "),
    headers: { ...requestId, Link: { $ref: "#/components/headers/Link" }, ...headersOf(status) },
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: { ...Object.fromEntries(examples), ...poolExamples(status) },
      },
    },
  };
}

/** Examples of the refusals that any request may get from pools that tenants share. */
function poolExamples(status: number): Json {
  const example = (code: ErrorCode, name: string, { message }: Error) => ({
    [`${code} (${name})`]: { value: { ok: false, error: { code, message } } },
  });
  if (status === statusOf.RATE_LIMITED) return example("RATE_LIMITED", "share", shareInUse(examplePool));
  return status === statusOf.UNAVAILABLE ? example("UNAVAILABLE", "pool", poolExhausted(examplePool)) : {};
}

const examplePool: PoolSize = {
  label: "answer_buffers",
  name: "memory for unread answers",
  capacity: 128 * 1024 * 1024,
  unit: "bytes",
};

function headersOf(status: number): Json {
  const retry = { "Retry-After": { $ref: "#/components/headers/RetryAfter" } };
  if (status === 401) return { "WWW-Authenticate": { $ref: "#/components/headers/WwwAuthenticate" } };
  if (status === 405) return { Allow: { $ref: "#/components/headers/Allow" } };
  if (status === 503) return retry;
  if (status !== 429) return {};
  return {
    ...retry,
    RateLimit: { $ref: "#/components/headers/RateLimit" },
    "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
  };
}

function entriesOf(examples: ErrorExamples): (readonly [ErrorCode, ErrorExample])[] {
  return Object.entries(examples) as [ErrorCode, ErrorExample][];
}

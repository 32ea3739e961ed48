import { uuidv7 } from "@vidimus/kit/ids";
import { fastify, type FastifyInstance } from "fastify";
import { METHODS } from "node:http";
import type { UnreadableRequests } from "./unreadable-requests.ts";
import { proxyCheck } from "@vidimus/kit/service/trusted-proxies";
import { urlFault } from "../errors/url-error.ts";
import { readTarget } from "./request-target.ts";

const asWritten = { coerceTypes: false, removeAdditional: false, useDefaults: false } as const;

/**
 * The Fastify instance of the public port, without routes.
 *
 * @param trustedProxies CIDR ranges of proxies whose `X-Forwarded-For` is trusted
 */
export function createApp(
  trustedProxies: readonly string[],
  unreadable: Pick<UnreadableRequests, "refuse">,
): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: uuidv7,
    requestIdHeader: false,
    return503OnClosing: false,
    trustProxy: trustedProxies.length > 0 && proxyCheck(trustedProxies),
    // Fastify's own HEAD routes would replace the `Content-Length` of `sendAnswer` by 0.
    exposeHeadRoutes: false,
    // The router answers paths that it cannot decode, and too long parameters, without running any
    // hook. So undecodable paths are routed to "/", and the limit is set beyond Node's limit for
    // headers.
    rewriteUrl: (request) => readTarget(request.url ?? "") ?? "/",
    routerOptions: { maxParamLength: 65_536 },
    // A connection without any traffic for this time is closed.
    connectionTimeout: 60_000,
    // The longest time that any route allows for a body; most routes allow less.
    requestTimeout: 60_000,
    // Node itself would answer a request without Host, and not in the JSON form of other errors.
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000, requireHostHeader: false },
    ajv: { customOptions: { ...asWritten, verbose: true, keywords: ["x-must", "x-names", "x-described-as"] } },
    schemaErrorFormatter: (errors, part) => urlFault(errors, part),
    clientErrorHandler: (error, socket) => unreadable.refuse(error, socket),
  });
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== "CONNECT") app.addHttpMethod(method);
  }
  return app;
}

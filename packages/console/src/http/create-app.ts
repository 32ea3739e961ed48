import fastifyCookie from "@fastify/cookie";
import fastifyMultipart from "@fastify/multipart";
import { uuidv7 } from "@vidimus/kit/ids";
import { proxyCheck } from "@vidimus/kit/service/trusted-proxies";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { fastify, type FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import type { Route } from "./route.ts";
import { Cookies } from "./cookies.ts";
import { type ErrorPage, handleErrors } from "./error-handler.ts";
import { type MountOptions, mountRoutes } from "./mount-routes.ts";
import { checkRequests } from "./request-checks.ts";
import { logRequests } from "./request-log.ts";
import { addSecurityHeaders } from "./security-headers.ts";
import { unreadableRequests } from "./unreadable-requests.ts";
import { uploadTurns } from "./upload-turns.ts";

interface AppOptions extends Omit<MountOptions, "cookies" | "uploads"> {
  readonly trustedProxies: readonly string[];
  readonly routes: readonly Route[];
  readonly log: Logger;
  readonly registry: Registry;
  readonly errorPage: ErrorPage;
}

/** Largest url-encoded form of a route that sets no limit of its own, in bytes. */
const formBytesMax = 65_536;
const pathWithoutRoute = "/%25";

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { origin, trustedProxies, routes, log, registry, errorPage } = options;
  const unreadable = unreadableRequests(origin, log, errorPage);
  const app = fastify({
    logger: false,
    genReqId: uuidv7,
    requestIdHeader: false,
    trustProxy: trustedProxies.length > 0 && proxyCheck(trustedProxies),
    bodyLimit: formBytesMax,
    // The router answers paths that it cannot decode, and too long parameters, without running any
    // hook. So undecodable paths lead to a path without a route, and the limit is set beyond Node's
    // limit for headers.
    rewriteUrl: ({ url = "" }) => (isDecodable(url) ? url : pathWithoutRoute),
    routerOptions: { maxParamLength: 65_536 },
    connectionTimeout: 60_000,
    // Enough for the longest wait of an upload, and for 10 MiB over a line of 2 Mbit/s.
    requestTimeout: 60_000,
    clientErrorHandler: unreadable.refuse,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000, requireHostHeader: false },
  });
  unreadable.watch(app);
  logRequests(app, log, registry);
  addSecurityHeaders(app, origin);
  handleErrors(app, log, errorPage);
  checkRequests(app, origin);
  await app.register(fastifyCookie);
  app.removeAllContentTypeParsers();
  // The plugin only marks the request: pages read the body once they know who sends it.
  await app.register(fastifyMultipart);
  app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  );
  mountRoutes(app, routes, { ...options, cookies: new Cookies(origin), uploads: uploadTurns() });
  return app;
}

/** Whether the path of a URL can be decoded; pages read the query themselves. */
function isDecodable(url: string): boolean {
  try {
    decodeURI(url.replace(/[?#].*$/s, ""));
    return true;
  } catch {
    return false;
  }
}

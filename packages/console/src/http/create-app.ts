import fastifyCookie from "@fastify/cookie";
import { uuidv7 } from "@vidimus/kit/ids";
import { proxyCheck } from "@vidimus/kit/service/trusted-proxies";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { fastify, type FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import type { Route } from "./route.ts";
import { Cookies } from "./cookies.ts";
import { handleErrors } from "./error-handler.ts";
import { mountRoutes } from "./mount-routes.ts";
import { checkRequests } from "./request-checks.ts";
import { logRequests } from "./request-log.ts";
import { addSecurityHeaders } from "./security-headers.ts";

interface AppOptions {
  readonly origin: URL;
  readonly isLoopback: boolean;
  readonly trustedProxies: readonly string[];
  readonly routes: readonly Route[];
  readonly log: Logger;
  readonly registry: Registry;
  now(): Date;
  findPerson: Parameters<typeof mountRoutes>[2]["findPerson"];
}

/** A form has names, notes and lists of words. */
const formBytesMax = 65_536;

/** The server of the pages. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { origin, trustedProxies, routes, log, registry } = options;
  const app = fastify({
    logger: false,
    genReqId: uuidv7,
    requestIdHeader: false,
    trustProxy: trustedProxies.length > 0 && proxyCheck(trustedProxies),
    bodyLimit: formBytesMax,
    connectionTimeout: 60_000,
    requestTimeout: 10_000,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000, requireHostHeader: false },
  });
  logRequests(app, log, registry);
  addSecurityHeaders(app, origin);
  handleErrors(app, log);
  checkRequests(app, origin);
  await app.register(fastifyCookie);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  );
  mountRoutes(app, routes, { ...options, cookies: new Cookies(origin) });
  return app;
}

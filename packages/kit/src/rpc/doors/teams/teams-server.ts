import { Code, ConnectError, type ConnectRouter, createContextValues } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { fastify } from "fastify";
import { createSecureServer, createServer, type Http2SecureServer, type Http2Server } from "node:http2";
import type { Grants } from "./grants.ts";
import { listen } from "../../../listen.ts";
import { portOf } from "../../../port.ts";
import type { CertificateSource } from "../../../tls/service-credentials.ts";
import { clientCertificate, serverContext } from "../../../tls/server-context.ts";
import { callObserver } from "../../context/call-observer.ts";
import { addressOf, ConnectionPeers } from "../shared/connection-peers.ts";
import { assertLoopback, drain, trackConnections } from "../shared/connections.ts";
import { healthService } from "../shared/health.ts";
import { messageBytesMax, sessionMegabytesMax } from "../../wire/message-limit.ts";
import { contextInterceptor, deadlineInterceptor, errorInterceptor } from "./interceptors.ts";
import { guardInterceptor, observeInterceptor, peerKey, streamInterceptor } from "./interceptors.ts";
import { reflectionService } from "./reflection.ts";
import { refusalReport } from "../shared/refusals.ts";
import { type RpcServer, rpcServerDefaults, type RpcServerOptions } from "../shared/rpc-server.ts";
import { teamsGuard, type TenantCheck } from "./teams-guard.ts";

export { meshRoute, partialRoute, route, type RpcRoute, teamsRoute } from "../shared/route.ts";
export type { RpcServer, RpcServerOptions } from "../shared/rpc-server.ts";

export interface TeamsAccess {
  /**
   * Returns the current grants; without them a door with a certificate refuses all calls but those
   * of health and reflection.
   */
  grants?: (() => Grants) | undefined;
  /** The tenants that callers may name; undefined to allow all. */
  tenants?: TenantCheck | undefined;
}

type TeamsServerOptions = RpcServerOptions & TeamsAccess;

/**
 * Starts the teams door: gRPC, gRPC-Web and Connect with health and reflection on one port. With
 * TLS it supports HTTP/2 and HTTP/1.1 (ALPN). In plaintext it supports only HTTP/2 with prior
 * knowledge.
 *
 * @throws ConfigError when a plaintext address is not loopback, or the port is not usable
 */
export async function startTeamsServer(options: TeamsServerOptions): Promise<RpcServer> {
  const settings = { ...rpcServerDefaults, ...options };
  const { host, log, metrics, defaultTimeoutMs, stalledMs, drainMs } = settings;
  const { port, certificate, routes, tenants, tracing } = options;
  if (!certificate) assertLoopback(host);
  const shutdown = new AbortController();
  const app = fastify({ http2: true, logger: false, serverFactory: (handler) => httpServer(handler, certificate) });
  const report = refusalReport("teams", log, metrics);
  const peers = certificate && new ConnectionPeers([app.server], report);
  const grants = certificate && (options.grants ?? (() => new Map()));
  await app.register(fastifyConnectPlugin, {
    contextValues: ({ socket }) => createContextValues().set(peerKey, addressOf(socket)),
    interceptors: [
      contextInterceptor(tracing),
      observeInterceptor(callObserver(log, metrics)),
      errorInterceptor,
      deadlineInterceptor(defaultTimeoutMs),
      guardInterceptor(teamsGuard({ routes, grants, tenants, report }), peers),
      streamInterceptor(stalledMs),
    ],
    readMaxBytes: messageBytesMax,
    writeMaxBytes: messageBytesMax,
    // Callers are in the same network, where compression costs more time than it saves.
    compressMinBytes: messageBytesMax,
    shutdownSignal: shutdown.signal,
    routes: (router) => registerAll(router, options),
  });
  const connections = trackConnections([app.server], settings, certificate);
  await listen({ host, port, hostSetting: "HOST", portSetting: "GRPC_PORT" }, () => app.listen({ host, port }));
  return {
    host,
    port: portOf(app.server.address()),
    [Symbol.asyncDispose]: () =>
      drain(app.close(), drainMs, connections, () =>
        shutdown.abort(new ConnectError("the server is shutting down", Code.Unavailable)),
      ),
  };
}

function httpServer(
  handler: Parameters<typeof createServer>[1],
  certificate: CertificateSource | undefined,
): Http2Server | Http2SecureServer {
  const limits = { maxSessionMemory: sessionMegabytesMax };
  if (!certificate) return createServer(limits, handler);
  const tls = { ...serverContext(certificate.value), ...clientCertificate, allowHTTP1: true };
  const server = createSecureServer({ ...tls, ...limits }, handler);
  certificate.onChange((material) => server.setSecureContext(serverContext(material)));
  return server;
}

function registerAll(router: ConnectRouter, { routes, readiness }: RpcServerOptions): void {
  const services = routes.map(({ service }) => service);
  for (const route of routes) route.register(router);
  router.service(Health, healthService(readiness, new Set(services.map(({ typeName }) => typeName))));
  router.service(ServerReflection, reflectionService([...services, Health, ServerReflection]));
}

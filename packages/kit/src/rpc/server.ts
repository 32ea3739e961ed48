import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { fastify } from "fastify";
import { createSecureServer, createServer, type Http2Server } from "node:http2";
import type { TlsOptions } from "node:tls";
import { listenFault } from "../service/listen-fault.ts";
import { portOf } from "../service/port.ts";
import { callObserver } from "./call-observer.ts";
import { assertLoopback, drain, trackConnections } from "./connections.ts";
import { healthService } from "./health.ts";
import { messageBytesMax, sessionMegabytesMax } from "./message-limit.ts";
import { contextInterceptor, deadlineInterceptor, errorInterceptor } from "./interceptors.ts";
import { observeInterceptor, releaseInterceptor } from "./interceptors.ts";
import { reflectionService } from "./reflection.ts";
import { type RpcServer, rpcServerDefaults, type RpcServerOptions } from "./rpc-server.ts";

export { partialRoute, route, type RpcRoute } from "./route.ts";
export type { RpcServer, RpcServerOptions } from "./rpc-server.ts";

interface TeamsServerOptions extends RpcServerOptions {
  /**
   * Certificate and key for Node's TLS. Without them the door is plaintext and binds loopback only.
   */
  tls?: TlsOptions;
}

/**
 * Starts the teams door: gRPC, gRPC-Web and Connect with health and reflection on one port. With
 * TLS it supports HTTP/2 and HTTP/1.1 (ALPN). In plaintext it supports only HTTP/2 with prior
 * knowledge.
 *
 * @throws ConfigError when a plaintext address is not loopback, or the port is not usable
 */
export async function startRpcServer(options: TeamsServerOptions): Promise<RpcServer> {
  const { host, tls, log, metrics, defaultTimeoutMs, drainMs, sessionAgeMs } = { ...rpcServerDefaults, ...options };
  if (!tls) assertLoopback(host);
  const shutdown = new AbortController();
  const app = fastify({ http2: true, logger: false, serverFactory: (handler) => httpServer(handler, tls) });
  await app.register(fastifyConnectPlugin, {
    interceptors: [
      contextInterceptor,
      observeInterceptor(callObserver(log, metrics)),
      errorInterceptor,
      deadlineInterceptor(defaultTimeoutMs),
      releaseInterceptor,
    ],
    readMaxBytes: messageBytesMax,
    writeMaxBytes: messageBytesMax,
    // Callers are in the same network, where compression costs more time than it saves.
    compressMinBytes: messageBytesMax,
    shutdownSignal: shutdown.signal,
    routes: (router) => registerAll(router, options),
  });
  const connections = trackConnections([app.server], sessionAgeMs);
  const place = { host, port: options.port };
  await app.listen(place).catch(listenFault({ ...place, hostSetting: "HOST", portSetting: "GRPC_PORT" }));
  return {
    host,
    port: portOf(app.server.address()),
    [Symbol.asyncDispose]: () =>
      drain(app.close(), drainMs, connections, () =>
        shutdown.abort(new ConnectError("the server is shutting down", Code.Unavailable)),
      ),
  };
}

function httpServer(handler: Parameters<typeof createServer>[1], tls: TlsOptions | undefined): Http2Server {
  const limits = { maxSessionMemory: sessionMegabytesMax };
  return tls ? createSecureServer({ ...tls, ...limits, allowHTTP1: true }, handler) : createServer(limits, handler);
}

function registerAll(router: ConnectRouter, { routes, readiness }: RpcServerOptions): void {
  const services = routes.map(({ service }) => service);
  for (const route of routes) route.register(router);
  router.service(Health, healthService(readiness, new Set(services.map(({ typeName }) => typeName))));
  router.service(ServerReflection, reflectionService([...services, Health, ServerReflection]));
}

import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { fastify } from "fastify";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { withinDeadline } from "../deadline.ts";
import { ConfigError } from "../env.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { portOf } from "../port.ts";
import type { Readiness } from "../readiness.ts";
import { healthService } from "./health.ts";
import { flowWindowBytes, messageBytesMax } from "./message-limit.ts";
import { contextInterceptor, deadlineInterceptor, errorInterceptor, observeInterceptor } from "./interceptors.ts";
import { reflectionService } from "./reflection.ts";

/** A service and what implements it; make one with `route`. */
export interface RpcRoute {
  readonly service: DescService;
  register(router: ConnectRouter): void;
}

/** Binds an implementation to its service. */
export function route<S extends DescService>(service: S, implementation: ServiceImpl<S>): RpcRoute {
  return { service, register: (router) => void router.service(service, implementation) };
}

/** How an RPC server runs. */
export interface RpcServerOptions {
  routes: readonly RpcRoute[];
  /** Address to bind; without certificates it must be a loopback address. */
  host: string;
  /** 0 picks a free port. */
  port: number;
  readiness: Readiness;
  log: Logger;
  metrics: Metrics;
  /** For unary calls that bring no deadline; 15 s unless said. */
  defaultTimeoutMs?: number;
  /** How long running calls may go on after the stop; 10 s unless said. */
  drainMs?: number;
  /** Age at which a connection is asked to go, ±10 %, so that clients see new pods; 5 min unless said. */
  sessionAgeMs?: number;
}

/** A listening server. Disposing stops intake, lets running calls finish, then cuts what is left. */
export interface RpcServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
}

/** Serves gRPC, gRPC-Web and Connect with health and reflection on one h2c port. */
export async function startRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  assertLoopback(options.host);
  const { drainMs = 10_000 } = options;
  const shutdown = new AbortController();
  const app = fastify({ http2: true, logger: false });
  await app.register(fastifyConnectPlugin, {
    interceptors: [
      contextInterceptor,
      observeInterceptor(options.log, options.metrics),
      errorInterceptor,
      deadlineInterceptor(options.defaultTimeoutMs ?? 15_000),
    ],
    readMaxBytes: messageBytesMax,
    writeMaxBytes: messageBytesMax,
    // Bytes travel between neighbours; compressing them costs more than it saves.
    compressMinBytes: messageBytesMax,
    shutdownSignal: shutdown.signal,
    routes: (router) => registerAll(router, options),
  });
  const connections = trackConnections(app.server, options.sessionAgeMs ?? 300_000);
  await app.listen({ host: options.host, port: options.port });
  const port = portOf(app.server.address());
  return {
    host: options.host,
    port,
    async [Symbol.asyncDispose]() {
      const closed = app.close();
      connections.closeSessions();
      if (!(await withinDeadline(closed, drainMs))) {
        shutdown.abort(new ConnectError("the server is shutting down", Code.Unavailable));
        // A silent TCP connection would keep an h2c server open for ever.
        if (!(await withinDeadline(closed, 500))) connections.destroy();
      }
      await closed;
    },
  };
}

function registerAll(router: ConnectRouter, { routes, readiness }: RpcServerOptions): void {
  const services = routes.map(({ service }) => service);
  for (const route of routes) route.register(router);
  router.service(Health, healthService(readiness, new Set(services.map(({ typeName }) => typeName))));
  router.service(ServerReflection, reflectionService([...services, Health, ServerReflection]));
}

function assertLoopback(host: string): void {
  const loopback = host === "localhost" || host === "::1" || host.startsWith("127.");
  if (!loopback) throw new ConfigError(`RPC without certificates binds loopback addresses only, not "${host}"`);
}

/** Knows every connection, so that a stop can end them all and none grows older than it should. */
function trackConnections(server: Http2Server, sessionAgeMs: number) {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.settings({ initialWindowSize: flowWindowBytes });
    session.setLocalWindowSize(flowWindowBytes);
    const age = setTimeout(() => session.close(), sessionAgeMs * (0.9 + Math.random() * 0.2)).unref();
    session.once("close", () => {
      clearTimeout(age);
      sessions.delete(session);
    });
  });
  return {
    closeSessions: () => sessions.forEach((session) => session.close()),
    destroy: () => sockets.forEach((socket) => socket.destroy()),
  };
}

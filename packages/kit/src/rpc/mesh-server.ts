import { Code, ConnectError } from "@connectrpc/connect";
import { Server, ServerCredentials, setLogger } from "@grpc/grpc-js";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import type { Http2Server } from "node:http2";
import { Server as NetServer } from "node:net";
import { promisify } from "node:util";
import { listen } from "../service/listen.ts";
import { callObserver } from "./call-observer.ts";
import { assertLoopback, drain, trackConnections } from "./connections.ts";
import { healthService } from "./health.ts";
import { LiveServerCredentials } from "../tls/server-context.ts";
import { trustDomainOf } from "../tls/peer-identity.ts";
import { ConnectionPeers } from "./connection-peers.ts";
import type { MeshDoor } from "./mesh-call.ts";
import { type MeshGuard, meshGuard } from "./mesh-guard.ts";
import { meshRouter } from "./mesh-router.ts";
import { messageBytesMax } from "./message-limit.ts";
import { refusalReport } from "./refusals.ts";
import { type RpcServer, rpcServerDefaults, type RpcServerOptions } from "./rpc-server.ts";

/**
 * Starts the mesh door: gRPC with health for the other services, at a quarter of the teams door's
 * CPU per call (ADR 0002). It has no methods with a stream of requests, and therefore no
 * reflection.
 *
 * @throws ConfigError when a plaintext address is not loopback, or the port is not usable
 */
export async function startMeshServer(options: RpcServerOptions): Promise<RpcServer> {
  const { host, log, metrics, defaultTimeoutMs, drainMs, sessionAgeMs } = { ...rpcServerDefaults, ...options };
  const { routes, certificate, tracing } = options;
  if (!certificate) assertLoopback(host);
  // grpc-js would write to stderr what it also throws, for example that the port is taken.
  setLogger({ error: (message: unknown) => log.debug({ message: String(message) }, "grpc-js") });
  const guard = new LateGuard();
  const door: MeshDoor = {
    observe: callObserver(log, metrics),
    defaultTimeoutMs,
    tracing,
    guard: certificate && guard,
    running: new Set(),
  };
  const credentials = certificate ? new LiveServerCredentials(certificate) : ServerCredentials.createInsecure();
  const place = { host, port: options.port, hostSetting: "HOST", portSetting: "MESH_PORT" };
  const { server, port } = await listen(place, () => bound(createServer(options, door), place, credentials));
  const http2Servers = http2ServersOf(server);
  if (certificate) {
    const report = refusalReport("mesh", log, metrics);
    const trustDomain = trustDomainOf(certificate.value.identity);
    guard.set(meshGuard({ routes, peers: new ConnectionPeers(http2Servers, report), trustDomain, report }));
  }
  const connections = trackConnections(http2Servers, sessionAgeMs, certificate);
  return {
    host,
    port,
    [Symbol.asyncDispose]: () =>
      drain(promisify(server.tryShutdown.bind(server))(), drainMs, connections, () => {
        for (const call of door.running) call.fail(new ConnectError("the server is shutting down", Code.Unavailable));
      }),
  };
}

/** The guard of a door. It needs the HTTP/2 servers, which exist only after the bind. */
class LateGuard implements MeshGuard {
  #guard: MeshGuard | undefined;

  set(guard: MeshGuard): void {
    this.#guard = guard;
  }

  admit(...call: Parameters<MeshGuard["admit"]>): string {
    if (!this.#guard) throw new ConnectError("the server is starting", Code.Unavailable);
    return this.#guard.admit(...call);
  }
}

function createServer({ routes, readiness }: RpcServerOptions, door: MeshDoor): Server {
  const server = new Server({
    "grpc.max_send_message_length": messageBytesMax,
    "grpc.max_receive_message_length": messageBytesMax,
    // channelz counts every call and message, which costs CPU, and its data is not used.
    "grpc.enable_channelz": 0,
  });
  const router = meshRouter(server, door);
  for (const route of routes) route.register(router);
  router.service(Health, healthService(readiness, new Set(routes.map(({ service }) => service.typeName))));
  return server;
}

/** Binds a new server: after a failed bind grpc-js answers every later one with the same failure. */
async function bound(
  server: Server,
  { host, port }: { host: string; port: number },
  credentials: ServerCredentials,
): Promise<{ server: Server; port: number }> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const bind = promisify(server.bindAsync.bind(server));
  return { server, port: await bind(address, credentials).catch(withListenCode) };
}

/** Sets `code`, which grpc-js only quotes: "No address added out of …: [listen EADDRINUSE: …]". */
function withListenCode(error: Error): never {
  const [, code] = /\blisten (E[A-Z]+)/.exec(error.message) ?? [];
  throw Object.assign(error, { code });
}

/**
 * Returns the HTTP/2 servers of a grpc-js server, one for each address. The field is private, but
 * grpc-js has no option for a server's receive window and no access to sockets without a session.
 */
function http2ServersOf(server: Server): Http2Server[] {
  const servers: unknown = Reflect.get(server, "http2Servers");
  if (!(servers instanceof Map) || servers.size === 0) throw new TypeError("grpc-js has changed: no http2Servers");
  return [...servers.keys()].filter((each): each is Http2Server => each instanceof NetServer);
}

import { Code, ConnectError } from "@connectrpc/connect";
import { Server, ServerCredentials, setLogger } from "@grpc/grpc-js";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { promisify } from "node:util";
import { listen } from "../../../listen.ts";
import { callObserver } from "../../context/call-observer.ts";
import { assertLoopback, drain, trackConnections } from "../shared/connections.ts";
import { healthService } from "../shared/health.ts";
import { LiveServerCredentials } from "../../../tls/server-context.ts";
import { siblingIdentity } from "../../../tls/sibling-identity.ts";
import { ConnectionPeers } from "../shared/connection-peers.ts";
import type { MeshDoor } from "./mesh-call.ts";
import { type MeshGuard, meshGuard } from "./mesh-guard.ts";
import { http2ServersOf, listenCodeOf } from "../../grpc-internals.ts";
import { meshRouter } from "./mesh-router.ts";
import { messageBytesMax } from "../../wire/message-limit.ts";
import { refusalReport } from "../shared/refusals.ts";
import { type RpcServer, rpcServerDefaults, type RpcServerOptions } from "../shared/rpc-server.ts";

/**
 * Starts the mesh door: gRPC and health for the other services, at a quarter of the teams door's
 * CPU per call (ADR 0002). It serves no methods with a stream of requests, and therefore no
 * reflection.
 *
 * @throws ConfigError when a plaintext address is not loopback, or the port is not usable
 */
export async function startMeshServer(options: RpcServerOptions): Promise<RpcServer> {
  const settings = { ...rpcServerDefaults, ...options };
  const { host, log, metrics, defaultTimeoutMs, stalledMs, drainMs } = settings;
  const { routes, certificate, tracing } = options;
  if (!certificate) assertLoopback(host);
  // grpc-js writes to stderr what it also throws, for example that the port is taken.
  setLogger({ error: (message: unknown) => log.debug({ message: String(message) }, "grpc-js") });
  const guard = new LateGuard();
  const door: MeshDoor = {
    observe: callObserver(log, metrics),
    defaultTimeoutMs,
    stalledMs,
    tracing,
    guard: certificate && guard,
    running: new Set(),
  };
  const credentials = certificate ? new LiveServerCredentials(certificate) : ServerCredentials.createInsecure();
  const address = { host, port: options.port, hostSetting: "HOST", portSetting: "MESH_PORT" };
  const { server, port } = await listen(address, () => bound(createServer(options, door), address, credentials));
  const http2Servers = http2ServersOf(server);
  if (certificate) {
    const report = refusalReport("mesh", log, metrics);
    const identityOfService = (service: string) => siblingIdentity(certificate.value, service);
    guard.set(meshGuard({ routes, peers: new ConnectionPeers(http2Servers, report), identityOfService, report }));
  }
  const connections = trackConnections(http2Servers, settings, certificate);
  return {
    host,
    port,
    [Symbol.asyncDispose]: () =>
      drain(promisify(server.tryShutdown.bind(server))(), drainMs, connections, () => {
        for (const call of door.running) call.fail(new ConnectError("the server is shutting down", Code.Unavailable));
      }),
  };
}

/**
 * A guard whose checks are set later: they need the HTTP/2 servers, which exist only after the
 * bind.
 */
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
    // channelz counts every call and message, which costs CPU, and nothing here uses its data.
    "grpc.enable_channelz": 0,
  });
  const router = meshRouter(server, door);
  for (const route of routes) route.register(router);
  router.service(Health, healthService(readiness, new Set(routes.map(({ service }) => service.typeName))));
  return server;
}

/**
 * Binds a server that no earlier attempt has used: after a failed bind a grpc-js server repeats
 * that failure.
 */
async function bound(
  server: Server,
  { host, port }: { host: string; port: number },
  credentials: ServerCredentials,
): Promise<{ server: Server; port: number }> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const bind = promisify(server.bindAsync.bind(server));
  return { server, port: await bind(address, credentials).catch(withListenCode) };
}

/** Adds a `code` as errors of Node's own servers have, by which `listen` knows what failed. */
function withListenCode(error: Error): never {
  throw Object.assign(error, { code: listenCodeOf(error) });
}

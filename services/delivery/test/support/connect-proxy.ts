import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";

type OnConnect = (request: IncomingMessage, socket: Socket) => void;

/**
 * A forward proxy on loopback. It opens a connection to the host and port that CONNECT names,
 * unless `behaviour.onConnect` is replaced.
 */
export async function openConnectProxy(tls?: { cert: string; key: string }) {
  const targets: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const behaviour: { onConnect: OnConnect } = { onConnect: tunnel };
  const refuse: RequestListener = (_request, response) => void response.writeHead(400).end();
  const server = tls ? createTlsServer(tls, refuse) : createServer(refuse);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    targets.push(request.url ?? "");
    authorizations.push(request.headers["proxy-authorization"]);
    // Node's HTTP server, unlike its HTTPS server, keeps its side open after the client's end.
    socket.on("error", () => {}).once("end", () => socket.end());
    behaviour.onConnect(request, socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${tls ? "https" : "http"}://localhost:${port}`,
    /** The hosts and ports that CONNECT named. */
    targets,
    authorizations,
    behaviour,
    /** Number of connections that callers have open. */
    connections: () => sockets.size,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

export type ConnectProxy = Awaited<ReturnType<typeof openConnectProxy>>;

function tunnel(request: IncomingMessage, socket: Socket): void {
  const { hostname, port } = new URL(`http://${request.url}`);
  const upstream = connect(Number(port || 80), hostname.replace(/^\[(.*)\]$/, "$1"));
  upstream.once("connect", () => {
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    upstream.pipe(socket).pipe(upstream);
  });
  upstream.once("error", () => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
  socket.once("close", () => upstream.destroy());
}

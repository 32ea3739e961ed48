import { once } from "node:events";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { portOf } from "../../port.ts";
import { cleanUp } from "./doors.ts";

/**
 * Starts an HTTP/2 server for answers that no door gives. Returns its port.
 *
 * @param answer called for each stream; `cut` resets all TCP connections of the server
 */
export async function answerRaw(answer: (stream: ServerHttp2Stream, cut: () => void) => void): Promise<number> {
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  const cut = () => sockets.forEach((socket) => socket.resetAndDestroy());
  const server = createServer().on("stream", (stream: ServerHttp2Stream) => answer(stream, cut));
  server.on("session", (session) => sessions.add(session));
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    const closed = once(server, "close");
    server.close();
    for (const session of sessions) session.destroy();
    await closed;
  });
  return portOf(server.address());
}

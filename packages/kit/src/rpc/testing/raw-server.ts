import { once } from "node:events";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { portOf } from "../../service/port.ts";
import { cleanUp } from "./doors.ts";

/**
 * Starts an HTTP/2 server with the given answers, for answers that no door gives. Returns its port.
 */
export async function answerRaw(answer: (stream: ServerHttp2Stream) => void): Promise<number> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer().on("stream", answer);
  server.on("session", (session) => sessions.add(session));
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

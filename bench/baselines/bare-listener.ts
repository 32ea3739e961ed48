/**
 * The baseline for neighbours: a listener that answers 204 at the end of a request's head or of its
 * announced body. An attack on it shows what the attacker alone costs the machine.
 */
import { createServer, type Socket } from "node:net";

/** Clients that honour `Retry-After` come back once a second. */
const answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\nRetry-After: 1\r\n\r\n";
const headEnd = "\r\n\r\n";

function serve(socket: Socket): void {
  let head = "";
  let left = Number.POSITIVE_INFINITY;
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    if (left === Number.POSITIVE_INFINITY) {
      head += chunk.toString("latin1");
      const end = head.indexOf(headEnd);
      if (end < 0) return;
      left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0) - (head.length - end - headEnd.length);
    } else {
      left -= chunk.length;
    }
    if (left <= 0 && socket.writable) socket.end(answer);
  });
}

createServer(serve).listen(Number(process.env["HTTP_PORT"]), "127.0.0.1");

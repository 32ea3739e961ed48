import type { FastifyReply, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/**
 * When the announced length of a body is at most this, its rest is discarded and the connection
 * kept.
 */
const keptBytesMax = 64 * 1024;
/** Most bytes that are read of a body whose request is already answered. */
const lingerBytesMax = 1024 * 1024;
/** How long the client has to read the answer before its connection is closed. */
const lingerMsMax = 2_000;

/**
 * Closes the connection after an answer that was sent before the request's body had arrived.
 * Closing at once would reset the connection while the client sends, and the client would often
 * miss the answer. So the gateway ends its half of the connection after the answer, discards a
 * limited rest of the body, and closes the connection after two seconds, or at the body's end.
 */
export function closeUnlessRead({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!hasLongRest(raw)) return;
  void reply.header("connection", "close");
  limitRest(raw);
  const { socket } = raw;
  // Node calls `destroySoon` after the last byte of an answer with `Connection: close`.
  socket.destroySoon = () => linger(raw, socket);
}

function hasLongRest({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > keptBytesMax;
}

/**
 * Reads a limited rest of the body and then stops. Reading is started here, because Node would read
 * the rest of an unread request at full speed after the answer: 700 MB in two seconds.
 */
function limitRest(request: IncomingMessage): void {
  let bytes = 0;
  request.on("data", (piece: Buffer) => {
    bytes += piece.length;
    // The connection is not closed here: once a client's sends block, it reads the answer.
    if (bytes > lingerBytesMax) request.pause();
  });
  request.read(0);
}

function linger(request: IncomingMessage, socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), lingerMsMax);
  socket.once("close", () => clearTimeout(timer)).end();
  request.once("end", () => socket.destroy());
}

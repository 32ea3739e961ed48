import type { Logger } from "@vidimus/kit/log";
import { uuidv7 } from "@vidimus/kit/uuid";
import type { Socket } from "node:net";
import { refused } from "./answer.ts";
import { headersFor } from "./exchange.ts";
import { HttpError } from "./http-error.ts";

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Payload Too Large",
};

/** What Node's parser refused or gave up on: no framework sees it. The connection ends with the answer. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket, log: Logger): void {
  const requestId = uuidv7();
  log.info({ requestId, reason: error.code ?? error.message }, "broken request");
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = refused(fault(error.code));
  const text = String(body);
  const all = { ...headersFor(requestId), ...headers, "content-length": Buffer.byteLength(text), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reasons[status] ?? "Bad Request"}\r\n${lines.join("")}\r\n${text}`);
}

function fault(code: string | undefined): HttpError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new HttpError("REQUEST_TIMEOUT", "the request did not arrive in time");
  if (code === "HPE_HEADER_OVERFLOW") return new HttpError("INVALID_QUERY", "the URL and the headers are too long");
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return new HttpError("INVALID_PAYLOAD", "the chunk extensions are too long");
  return new HttpError("INVALID_PAYLOAD", "this is not a well-formed HTTP request");
}

/**
 * All that the kit knows of grpc-js beyond its public interface: private fields and wordings. The
 * functions throw a TypeError when a field is gone, and `grpc-internals.test.ts` fails when another
 * version than `grpcVersion` is installed.
 */
import type { Server } from "@grpc/grpc-js";
import { Http2SubchannelConnector } from "@grpc/grpc-js/build/src/transport.js";
import type { Http2Server } from "node:http2";
import { Server as NetServer } from "node:net";

export const grpcVersion = "1.14.7";

/**
 * Returns the HTTP/2 servers of a grpc-js server, one for each address. They are needed because
 * grpc-js has no option for a server's receive window, and gives no access to sockets that have no
 * HTTP/2 session.
 */
export function http2ServersOf(server: Server): Http2Server[] {
  const servers = fieldOf(server, "http2Servers");
  if (!(servers instanceof Map) || servers.size === 0) throw new TypeError("grpc-js has changed: no http2Servers");
  return [...servers.keys()].filter((each): each is Http2Server => each instanceof NetServer);
}

/**
 * Drops the pieces from which a request was joined. grpc-js keeps them until the call has ended, so
 * that a request of 10 MiB takes 20 MiB, and no option of grpc-js changes this.
 *
 * @param wire a call as grpc-js passes it to a handler
 */
export function dropPieces(wire: object): void {
  const decoder = fieldOf(fieldOf(wire, "call"), "decoder");
  if (!Array.isArray(fieldOf(decoder, "readPartialMessage"))) {
    throw new TypeError("grpc-js has changed: no readPartialMessage");
  }
  Reflect.set(Object(decoder), "readPartialMessage", []);
}

/**
 * How grpc-js words the end of a call without a gRPC status: the server reset the stream, ended it
 * without trailers or closed the connection with an error, or the request could not be written.
 */
const lostAnswers: readonly RegExp[] = [
  /^Received RST_STREAM with code \d/,
  /^Call cancelled$/,
  /^Bandwidth exhausted or memory limit exceeded$/,
  /^Failed to start HTTP\/2 stream with error /,
];

/**
 * Whether the details of a status say that no server has answered the call. grpc-js passes on the
 * code of a reset nowhere else.
 */
export function saysLostAnswer(details: string): boolean {
  return lostAnswers.some((wording) => wording.test(details));
}

/**
 * The code of the error of a failed bind, for example EADDRINUSE; undefined without one. grpc-js
 * states it only in the message: "No address added out of …: [listen EADDRINUSE: …]".
 */
export function listenCodeOf({ message }: Error): string | undefined {
  return /\blisten (E[A-Z]+)/.exec(message)?.[1];
}

let isPatched = false;

/**
 * Keeps the running calls of a connection that drains. grpc-js pings such a connection every two
 * seconds (`channelOptions`), Node cancels the pings of a session that got GOAWAY, and grpc-js
 * treats that as a lost connection: without this patch every call ends within two seconds of a
 * GOAWAY (grpc-node issue 3068). A server that hangs while its connection drains is noticed by the
 * deadlines of the calls.
 */
export function keepDrainingCalls(): void {
  if (isPatched) return;
  isPatched = true;
  const connector = Http2SubchannelConnector.prototype;
  const { connect } = connector;
  connector.connect = async function (...to) {
    const transport = await connect.apply(this, to);
    const session = fieldOf(transport, "session");
    const canSendPing = fieldOf(transport, "canSendPing");
    if (!hasClosed(session) || typeof canSendPing !== "function")
      throw new TypeError("grpc-js has changed: no session");
    Reflect.set(transport, "canSendPing", () => !session.closed && canSendPing.call(transport));
    return transport;
  };
}

function hasClosed(session: unknown): session is { readonly closed: boolean } {
  return typeof session === "object" && session !== null && "closed" in session;
}

const fieldOf = (owner: unknown, name: string): unknown => Reflect.get(Object(owner), name);

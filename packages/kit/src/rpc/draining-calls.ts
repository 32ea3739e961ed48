import { Http2SubchannelConnector } from "@grpc/grpc-js/build/src/transport.js";

let isPatched = false;

/**
 * Keeps the running calls of a connection that drains. grpc-js pings it every two seconds
 * (`channelOptions`), Node cancels the pings of a session that got GOAWAY, and grpc-js takes that for
 * a lost connection: without this every call ends within two seconds of a GOAWAY (grpc-node issue
 * 3068). A server that hangs while a connection to it drains is found by the deadlines of the calls.
 */
export function keepDrainingCalls(): void {
  if (isPatched) return;
  isPatched = true;
  const connector = Http2SubchannelConnector.prototype;
  const { connect } = connector;
  connector.connect = async function (...to) {
    const transport = await connect.apply(this, to);
    const session: unknown = Reflect.get(transport, "session");
    const canSendPing: unknown = Reflect.get(transport, "canSendPing");
    if (!hasClosed(session) || typeof canSendPing !== "function")
      throw new TypeError("grpc-js has changed: no session");
    Reflect.set(transport, "canSendPing", () => !session.closed && canSendPing.call(transport));
    return transport;
  };
}

function hasClosed(session: unknown): session is { readonly closed: boolean } {
  return typeof session === "object" && session !== null && "closed" in session;
}

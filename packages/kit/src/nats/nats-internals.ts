/**
 * All that the kit changes inside nats.js. `nats-internals.test.ts` fails when another version than
 * `natsVersion` is installed.
 */
import { NodeTransport } from "nats/lib/src/node_transport.js";
import type { Socket } from "node:net";

export const natsVersion = "2.29.3";

let isPatched = false;

/**
 * Makes nats.js close a socket at once when it gives the socket up. Without this patch:
 *
 * - Before nats.js replaces a silent connection, it waits until all its data is sent. A lost host
 *   reads nothing, so the wait lasts until TCP gives up, a quarter of an hour.
 * - A dial that took too long goes on. When the broker later closes the socket of this dial,
 *   nats.js takes its newer connection for lost: it dials again, without closing the newer one.
 */
export function closeSocketsAtOnce(): void {
  if (isPatched) return;
  isPatched = true;
  const transport = NodeTransport.prototype;
  const { close, dial } = transport;
  // Called for a silent connection. The original `close`, unlike `disconnect`, does not wait until
  // data is sent; nats.js then dials.
  transport.disconnect = function () {
    void close.call(this, new Error("the broker does not answer"));
  };
  // Called for a failed dial, after which nats.js dials anyway, and for the connection at a stop.
  // `done` keeps nats.js from dialling once more when the socket closes.
  transport.close = async function () {
    this.done = true;
    const { socket }: { readonly socket?: Socket } = this;
    socket?.destroy();
  };
  transport.dial = async function (to) {
    const socket = await dial.call(this, to);
    if (!this.done) return socket;
    socket.destroy();
    throw new Error("the dial took too long");
  };
}

/**
 * All that the kit changes inside nats.js. `nats-internals.test.ts` fails when another version than
 * `natsVersion` is installed.
 */
import { NodeTransport } from "nats/lib/src/node_transport.js";
import type { Socket } from "node:net";

/** The version of nats.js for which this file was written. */
export const natsVersion = "2.29.3";

let isPatched = false;

/**
 * Makes nats.js close the sockets that it gives up, at once. Without this patch:
 *
 * - It sends what a silent connection holds before it closes it and makes a new one. A lost host
 *   reads nothing, so that takes until TCP gives up, a quarter of an hour.
 * - A dial that took too long goes on. When the broker closes its socket later, nats.js takes the
 *   connection that it has made meanwhile for lost, and leaves it open.
 */
export function closeSocketsAtOnce(): void {
  if (isPatched) return;
  isPatched = true;
  const transport = NodeTransport.prototype;
  const { close, dial } = transport;
  // Called for a silent connection. An error keeps `close` from sending; nats.js then dials.
  transport.disconnect = function () {
    void close.call(this, new Error("the broker does not answer"));
  };
  // Called for a dial that failed, which is followed by another, and for the last connection. Since
  // `done` is set, nats.js does not dial because of the closed socket.
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

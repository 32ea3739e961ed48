import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { portOf } from "../../src/port.ts";

/** A TCP proxy that can keep connections open without forwarding the server's bytes. */
interface MutableProxy extends AsyncDisposable {
  readonly port: number;
  /** Stops forwarding on the open connections. Later connections work. */
  muteOpenConnections(): void;
}

/** Opens a proxy in front of a port of 127.0.0.1. */
export async function openMutableProxy(targetPort: number): Promise<MutableProxy> {
  const sockets = new Set<Socket>();
  const open = new Set<{ mute(): void }>();
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    const pair = { mute: () => void target.unpipe(client).resume() };
    open.add(pair);
    client.pipe(target).pipe(client);
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        client.destroy();
        target.destroy();
        sockets.delete(socket);
        open.delete(pair);
      });
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: portOf(server.address()),
    muteOpenConnections: () => open.forEach((pair) => pair.mute()),
    async [Symbol.asyncDispose]() {
      server.close();
      sockets.forEach((socket) => socket.destroy());
      await once(server, "close");
    },
  };
}

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { portOf } from "../../src/port.ts";

/** A TCP proxy that can keep connections open without forwarding their bytes. */
interface MutableProxy extends AsyncDisposable {
  readonly port: number;
  readonly acceptedCount: number;
  readonly openCount: number;
  /** Stops forwarding the server's bytes on the open connections. Later connections work. */
  muteOpenConnections(): void;
  /** Mutes the open connections and reads nothing of their clients, as a lost host would. */
  stallOpenConnections(): void;
  /** Closes the open connections. On later ones forwards nothing, or only the server's bytes. */
  hang(forwards: "nothing" | "server"): void;
  /** Ends `hang`: forwards on the connections accepted meanwhile, and on later ones. */
  resume(): void;
}

const pairOf = (client: Socket, target: Socket) => ({
  forward: () => void client.pipe(target.unpipe(client)).pipe(client),
  greet: () => void target.pipe(client),
  mute: () => void target.unpipe(client).resume(),
  stall: () => void client.unpipe(target).pause(),
});

export async function openMutableProxy(targetPort: number): Promise<MutableProxy> {
  const sockets = new Set<Socket>();
  const open = new Set<ReturnType<typeof pairOf>>();
  let acceptedCount = 0;
  let forwards: "nothing" | "server" | "all" = "all";
  const server = createServer((client) => {
    acceptedCount += 1;
    const target = connect(targetPort, "127.0.0.1");
    const pair = pairOf(client, target);
    open.add(pair);
    if (forwards === "server") pair.greet();
    if (forwards === "all") pair.forward();
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
    get acceptedCount() {
      return acceptedCount;
    },
    get openCount() {
      return open.size;
    },
    muteOpenConnections: () => open.forEach((pair) => pair.mute()),
    stallOpenConnections: () => open.forEach((pair) => (pair.mute(), pair.stall())),
    hang(still) {
      forwards = still;
      sockets.forEach((socket) => socket.destroy());
    },
    resume() {
      forwards = "all";
      open.forEach((pair) => pair.forward());
    },
    async [Symbol.asyncDispose]() {
      server.close();
      sockets.forEach((socket) => socket.destroy());
      await once(server, "close");
    },
  };
}

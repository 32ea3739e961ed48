import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { portOf } from "../../port.ts";
import { cleanUp } from "./doors.ts";

interface TcpProxy {
  readonly port: number;
  /** Stops forwarding the server's bytes. */
  holdAnswers(): void;
  releaseAnswers(): void;
  /** Resets every connection and refuses new ones, like a killed server. */
  kill(): Promise<void>;
}

export async function openTcpProxy(target: number): Promise<TcpProxy> {
  const clients = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let held = false;
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    clients.add(client);
    upstreams.add(upstream);
    const close = () => [client, upstream].forEach((socket) => socket.destroy());
    for (const socket of [client, upstream]) socket.on("error", close).on("close", close);
    client.pipe(upstream);
    upstream.on("data", (bytes: Buffer) => void client.write(bytes));
    if (held) upstream.pause();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const kill = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of clients) socket.resetAndDestroy();
    await closed;
  };
  cleanUp(kill);
  const hold = (hold: boolean) => {
    held = hold;
    for (const upstream of upstreams) upstream[held ? "pause" : "resume"]();
  };
  return { port: portOf(server.address()), holdAnswers: () => hold(true), releaseAnswers: () => hold(false), kill };
}

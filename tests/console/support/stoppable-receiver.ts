import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A receiver whose server stops and starts again on its port. */
export interface StoppableReceiver extends AsyncDisposable {
  readonly url: string;
  /** Ids of the webhooks that arrived, in order. */
  readonly received: readonly string[];
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Opens a receiver that answers 204, on a free port of 127.0.0.1. */
export async function openStoppableReceiver(): Promise<StoppableReceiver> {
  const received: string[] = [];
  let server: Server | undefined;
  let port = 0;
  const receiver = {
    get url() {
      return `http://127.0.0.1:${port}/hook`;
    },
    received,
    async start() {
      server = createServer((request, response) => {
        request.resume().once("end", () => {
          received.push(String(request.headers["webhook-id"]));
          response.writeHead(204).end();
        });
      }).listen(port, "127.0.0.1");
      await once(server, "listening");
      ({ port } = server.address() as AddressInfo);
    },
    async stop() {
      const running = server;
      server = undefined;
      if (!running) return;
      running.close();
      running.closeAllConnections();
      await once(running, "close");
    },
    [Symbol.asyncDispose]: () => receiver.stop(),
  };
  await receiver.start();
  return receiver;
}

import { EventEmitter } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The raw bytes of the body, and the headers with lowercase names. */
export interface ReceivedWebhook {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** An HTTP server that stores the webhooks it receives; of repetitions, the last. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Resolves with all webhooks once `count` different ones have arrived. Rejects after `ms`. */
  until(count: number, ms: number): Promise<ReceivedWebhook[]>;
}

/** Listens on a free port of an address of this machine and answers every request with 204. */
export async function openReceiver(host: string): Promise<Receiver> {
  const received = new Map<string, ReceivedWebhook>();
  const arrivals = new EventEmitter();
  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      received.set(headers["webhook-id"] ?? "", { body: new Uint8Array(Buffer.concat(chunks)), headers });
      response.writeHead(204).end();
      arrivals.emit("arrival");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}/webhooks`,
    until: (count, ms) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`${received.size} of ${count} webhooks after ${ms} ms`)), ms);
        const look = () => {
          if (received.size < count) return;
          clearTimeout(late);
          resolve([...received.values()]);
        };
        arrivals.on("arrival", look);
        look();
      }),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedWebhook {
  headers: IncomingHttpHeaders;
  path: string;
  body: Buffer;
  at: number;
}

type Answer = (webhook: ReceivedWebhook, response: ServerResponse, request: IncomingMessage) => void;

/** A real HTTP receiver on loopback. It answers as `behaviour.answer` does, by default with 204. */
export async function openReceiver(answer: Answer = (_webhook, response) => response.writeHead(204).end()) {
  const received: ReceivedWebhook[] = [];
  const waiting = new Set<() => void>();
  const behaviour = { answer };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const webhook = {
        headers: request.headers,
        path: request.url ?? "",
        body: Buffer.concat(chunks),
        at: Date.now(),
      };
      received.push(webhook);
      behaviour.answer(webhook, response, request);
      for (const check of waiting) check();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    behaviour,
    /** Resolves with what was received once it is `count` webhooks or more. */
    async arrivals(count: number): Promise<ReceivedWebhook[]> {
      while (received.length < count) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        await promise;
        waiting.delete(resolve);
      }
      return received;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface ArrivedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Largest accepted body. A webhook has at most a document, 1 MiB, and its envelope. */
const bodyBytesMax = 8 * 1024 * 1024;

/**
 * Opens an HTTP server on 127.0.0.1 that answers each POST with the status that `receive` returns,
 * or with 500 when `receive` fails or the body is too large.
 */
export async function openLocalReceiver(
  port: number,
  receive: (webhook: ArrivedWebhook) => Promise<number>,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const answer = (status: number) => response.writeHead(status).end();
    if (request.method !== "POST") return void answer(405);
    readBody(request)
      .then((body) => receive({ headers: request.headers, body }))
      .then(answer, () => answer(500));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytesMax) throw new Error("the body is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

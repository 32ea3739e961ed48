import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { vi } from "vitest";

export interface Webhook {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * An HTTP receiver that records webhooks in the order of their arrival. Answers other than 204
 * repeat the request's credential, as the error pages of some servers do.
 */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Webhook[];
  /**
   * Sets the status of the next answers, 204 by default. An answer waits for a status that is a
   * promise.
   */
  answerWith(status: (webhook: Webhook) => number | Promise<number>): void;
  /**
   * Waits for the first webhook about a document, or about one of its sequences; fails after `ms`.
   */
  about(documentId: string, options?: { sequence?: number; ms?: number }): Promise<Webhook>;
}

/** Opens a receiver on a free port of 127.0.0.1. */
export async function openReceiver(): Promise<Receiver> {
  const received: Webhook[] = [];
  let status: (webhook: Webhook) => number | Promise<number> = () => 204;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const webhook = { headers: request.headers, body: Buffer.concat(chunks) };
      received.push(webhook);
      void Promise.resolve(status(webhook)).then((code) =>
        response.writeHead(code).end(code === 204 ? undefined : request.headers.authorization),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const find = (documentId: string, sequence?: number) =>
    received.find(({ body }) => {
      const { data } = payloadOf({ body });
      return data.documentId === documentId && (sequence === undefined || data.sequence === sequence);
    });
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answerWith: (answer) => (status = answer),
    about: (documentId, { sequence, ms = 20_000 } = {}) =>
      vi.waitFor(
        () => {
          const found = find(documentId, sequence);
          if (!found) throw new Error(`no webhook about ${documentId} among ${received.length} after ${ms} ms`);
          return found;
        },
        { timeout: ms, interval: 10 },
      ),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The parts of a payload that tests look at. */
interface Payload {
  id: string;
  type: string;
  data: {
    tenantId: string;
    documentId: string;
    version: number;
    status: string;
    sequence: number;
    signature: { keyId: string; statement: string; value: string };
    snapshot: { id: string; title: string; meta: { status: string; version: number }; [key: string]: unknown };
  };
}

export function payloadOf({ body }: Pick<Webhook, "body">): Payload {
  return JSON.parse(body.toString()) as Payload;
}

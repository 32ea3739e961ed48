import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export interface ArrivedWebhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Publishes as the tenant `demo` of a dev stack, and receives the tenant's webhooks on this
 * machine.
 */
export interface WebhookDesk extends AsyncDisposable {
  /** Answers 204. */
  readonly receiverUrl: string;
  /** In the order of their arrival. */
  readonly arrived: readonly ArrivedWebhook[];
  /**
   * Calls the public API with the tenant's key. @returns `data` of the answer @throws Error unless
   * it is 2xx
   */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** Pushes a tag and publishes it. @returns its id */
  publish(): Promise<string>;
}

/** Opens the desk of a dev stack that runs on this machine. */
export async function openWebhookDesk(dev: DevJson): Promise<WebhookDesk> {
  const tenantId = "demo";
  const apiKey = dev.tenants.find(({ id }) => id === tenantId)?.apiKey ?? "";
  const arrived: ArrivedWebhook[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      arrived.push({ headers, body: Buffer.concat(chunks) });
      response.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const documents = openDevClient(dev, "documents", DocumentService);
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const authorization = `Bearer ${apiKey}`;
    const json = body ? { "content-type": "application/json" } : {};
    const init = { method, headers: { authorization, ...json }, ...(body ? { body: JSON.stringify(body) } : {}) };
    const answer = await fetch(`${dev.gateway}${path}`, init);
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { data: T }).data;
  };
  return {
    receiverUrl: `http://127.0.0.1:${port}/webhooks`,
    arrived,
    call,
    async publish() {
      const id = randomUUID();
      const meta = { slug: `weather-${id}`, kind: "topic", language: "en" };
      await call("POST", "/v1/documents", { id, type: "core/tag", title: "Väder", meta, content: { name: "Väder" } });
      const transition = { documentId: id, name: "publish", expectedVersion: 1n };
      const asEditor = { headers: { "vidimus-role": "editor", "vidimus-actor": "desk" } };
      await documents.transitionDocument({ tenantId, transition }, asEditor);
      return id;
    },
    async [Symbol.asyncDispose]() {
      documents[Symbol.dispose]();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Waits until `find` returns a value. @throws Error after 30 s */
export async function untilThere<T>(what: string, find: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const lateAt = Date.now() + 30_000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (Date.now() > lateAt) throw new Error(`${what} is not there after 30 s`);
    await pause(50);
  }
}

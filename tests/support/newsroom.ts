import { createClient, type Interceptor } from "@connectrpc/connect";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { devCredentials, openDevClient } from "@vidimus/devstack/stack/dev-client";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";
import type { RpcClient } from "@vidimus/kit/rpc/client/client";
import { createGrpcTransport } from "@vidimus/kit/rpc/client/grpc-transport";
import { randomUUID } from "node:crypto";

/** Clients of one tenant: of the public API with its key, and of the internal services. */
export interface Newsroom extends Disposable {
  readonly tenantId: string;
  readonly apiKey: string;
  readonly documents: RpcClient<typeof DocumentService>;
  readonly endpoints: RpcClient<typeof EndpointService>;
  /** A request to the public API, with the tenant's key unless its headers name another. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Pushes a publishable article. Returns its id. */
  push(overrides?: object): Promise<string>;
  /** Applies a transition to version 1 of a document, by default as an editor. */
  transition(
    documentId: string,
    name: string,
    role?: string,
  ): ReturnType<RpcClient<typeof DocumentService>["transitionDocument"]>;
}

/** Call options of a role, for the internal services. */
export function as(role: string) {
  return { headers: { "vidimus-role": role, "vidimus-actor": `test-${role}` } };
}

/** An article that can be published without edits. */
export function article(overrides: object = {}): { id: string } & Record<string, unknown> {
  const id = randomUUID();
  return {
    id,
    type: "core/article",
    title: "Ferry cancelled",
    meta: { slug: `ferry-${id}`, language: "en", priority: 3 },
    content: { blocks: [{ type: "core/text", data: { html: "No boat today." } }] },
    links: [{ rel: "subject", type: "core/tag", uri: "topic:ferry", title: "Ferries" }],
    ...overrides,
  };
}

/** Opens a client whose calls have the role of an administrator unless they name another. */
function openEndpoints(dev: Omit<DevJson, "pids">): RpcClient<typeof EndpointService> {
  const asAdmin: Interceptor = (next) => (request) => {
    for (const [name, value] of Object.entries(as("admin").headers)) {
      if (!request.header.has(name)) request.header.set(name, value);
    }
    return next(request);
  };
  const credentials = devCredentials(dev.tls, "delivery");
  const target = `dns:///${dev.grpc.delivery}`;
  const transport = createGrpcTransport({ target, interceptors: [asAdmin], ...(credentials && { credentials }) });
  const client = createClient(EndpointService, transport);
  return Object.assign(client, { [Symbol.dispose]: () => transport.close() });
}

/** The key is "" when `dev` does not list the tenant. */
export function openNewsroom(dev: Omit<DevJson, "pids">, tenantId = "demo"): Newsroom {
  const apiKey = dev.tenants.find(({ id }) => id === tenantId)?.apiKey ?? "";
  const documents = openDevClient(dev, "documents", DocumentService);
  const endpoints = openEndpoints(dev);
  const request = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${apiKey}`);
    return fetch(`${dev.gateway}${path}`, { ...init, headers });
  };
  return {
    tenantId,
    apiKey,
    documents,
    endpoints,
    request,
    async push(overrides) {
      const draft = article(overrides);
      const headers = { "content-type": "application/json" };
      const answer = await request("/v1/documents", { method: "POST", headers, body: JSON.stringify(draft) });
      if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
      return draft.id;
    },
    transition: (documentId, name, role = "editor") =>
      documents.transitionDocument({ tenantId, transition: { documentId, name, expectedVersion: 1n } }, as(role)),
    [Symbol.dispose]() {
      documents[Symbol.dispose]();
      endpoints[Symbol.dispose]();
    },
  };
}

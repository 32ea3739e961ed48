import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { setTimeout as pause } from "node:timers/promises";
import { article } from "./newsroom.ts";
import type { ReplicaProcess } from "./replica-process.ts";

/** A request that has ended; one that found no ready gateway was not sent. */
export interface Exchange {
  readonly kind: "create" | "list" | "by id" | "by slug" | "phrases" | "keys";
  readonly gateway: string;
  /** When it was sent, by `performance.now()`. */
  readonly sentMs: number;
  /** Until the whole answer was read. */
  readonly tookMs: number;
  /** The status of a success; otherwise status and body, or why there is no answer. */
  readonly outcome: number | string;
  /** Id of the document that a create sent. */
  readonly documentId?: string;
  readonly tenantId: string;
}

/**
 * A request to one process, which involves no other process of the platform: readiness of a
 * gateway, which asks MongoDB, or a read of a documents process.
 */
export interface Check extends Pick<Exchange, "sentMs" | "tookMs"> {
  readonly process: string;
}

interface LoadOptions {
  readonly gateways: readonly ReplicaProcess[];
  readonly documents: readonly ReplicaProcess[];
  readonly tenants: readonly { readonly id: string; readonly apiKey: string }[];
  /** From tenant id to published articles. */
  readonly published: Readonly<Record<string, readonly { readonly id: string; readonly slug: string }[]>>;
}

const createEveryMs = 10;
const readEveryMs = 20;
const readyEveryMs = 50;
/** Longer than the 10 s after which the RPCs of these requests end, except that of "phrases". */
const timeoutMs = 30_000;

/**
 * Sends 100 creates and 50 reads a second, spread over the gateways that are ready, as clients
 * behind a load balancer do. It keeps to this rate whether the requests succeed or not.
 */
export class EdgeLoad implements AsyncDisposable {
  readonly ended: Exchange[] = [];
  readonly checks: Check[] = [];
  readonly #options: LoadOptions;
  readonly #stop = new AbortController();
  readonly #ready = new Set<ReplicaProcess>();
  readonly #running = new Set<Promise<void>>();
  readonly #loops: Promise<unknown>;
  #sent = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    for (const gateway of options.gateways) this.#ready.add(gateway);
    const loops = [
      ...options.gateways.map((gateway) => this.#watch(gateway)),
      ...options.documents.map((documents) => this.#readDirectly(documents)),
      this.#every(createEveryMs, () => this.#create()),
      this.#every(readEveryMs, () => this.#read()),
    ];
    this.#loops = Promise.all(loops);
  }

  /** Whether a gateway was ready when it was last asked; the load uses only such gateways. */
  uses(gateway: ReplicaProcess): boolean {
    return this.#ready.has(gateway);
  }

  /** Resolves when all requests sent so far have ended. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loops;
    await this.settle();
  }

  /**
   * Keeps to the rate: after a pause of this process the requests that are due are sent at once.
   */
  async #every(ms: number, send: () => Promise<void>): Promise<void> {
    const startedMs = performance.now();
    for (let count = 0; !this.#stop.signal.aborted; count += 1) {
      await pause(Math.max(0, startedMs + count * ms - performance.now()));
      const running = send();
      this.#running.add(running);
      void running.finally(() => this.#running.delete(running));
    }
  }

  /**
   * Asks for readiness as a balancer does. A late answer is as good as a prompt one: on a busy
   * machine its time says nothing about the gateway.
   */
  async #watch(gateway: ReplicaProcess): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const sentMs = performance.now();
      const isReady = await fetch(`${gateway.opsUrl}/readyz`).then(
        async (answer) => (await answer.arrayBuffer(), answer.ok),
        () => false,
      );
      this.checks.push({ process: gateway.name, sentMs, tookMs: performance.now() - sentMs });
      if (isReady) this.#ready.add(gateway);
      else this.#ready.delete(gateway);
      await pause(readyEveryMs);
    }
  }

  async #readDirectly({ name: process, meshTarget }: ReplicaProcess): Promise<void> {
    using client = openRpcClient(PublishedDocumentService, { target: meshTarget });
    const { id: tenantId = "" } = this.#options.tenants[0] ?? {};
    const value = this.#options.published[tenantId]?.[0]?.id ?? "";
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const sentMs = performance.now();
      await client.getPublishedDocument({ tenantId, by: { case: "documentId", value } }, { signal }).then(
        () => this.checks.push({ process, sentMs, tookMs: performance.now() - sentMs }),
        () => undefined,
      );
      await pause(readyEveryMs);
    }
  }

  async #create(): Promise<void> {
    const { id: tenantId, apiKey } = this.#tenant();
    const draft = article();
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(draft) };
    await this.#send({ kind: "create", tenantId, documentId: draft.id }, apiKey, "/v1/documents", init);
  }

  async #read(): Promise<void> {
    const { id: tenantId, apiKey } = this.#tenant();
    const articles = this.#options.published[tenantId] ?? [];
    const { id, slug } = articles[this.#sent % articles.length]!;
    const reads = [
      ["list", "/v1/documents?type=core/article&limit=10"],
      ["by id", `/v1/publisher/documents/${id}`],
      ["by slug", `/v1/publisher/articles/slug/${slug}`],
      ["phrases", "/v1/phrases"],
      ["keys", "/api/keys"],
    ] as const;
    const [kind, path] = reads[this.#sent % reads.length]!;
    await this.#send({ kind, tenantId }, apiKey, path, {});
  }

  #tenant() {
    this.#sent += 1;
    const { tenants } = this.#options;
    return tenants[Math.floor(this.#sent / 3) % tenants.length]!;
  }

  async #send(
    request: Pick<Exchange, "kind" | "tenantId" | "documentId">,
    apiKey: string,
    path: string,
    init: RequestInit,
  ): Promise<void> {
    const ready = [...this.#ready];
    const gateway = ready[this.#sent % ready.length];
    const sentMs = performance.now();
    const end = (outcome: number | string) =>
      this.ended.push({
        ...request,
        gateway: gateway?.name ?? "none",
        sentMs,
        tookMs: performance.now() - sentMs,
        outcome,
      });
    if (!gateway) return void end("no gateway is ready");
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${apiKey}`);
    try {
      const answer = await fetch(`${gateway.url}${path}`, { ...init, headers, signal: AbortSignal.timeout(timeoutMs) });
      const text = await answer.text();
      end(answer.ok ? answer.status : `${answer.status} ${text}`);
    } catch (error) {
      end(error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error));
    }
  }
}

import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { setTimeout as pause } from "node:timers/promises";
import { article, as } from "./newsroom.ts";

/** A document that is published and withheld in turn. */
interface FlowingDocument {
  readonly tenantId: string;
  readonly documentId: string;
  /** Sequence of its newest snapshot. */
  sequence: number;
}

const everyMs = 1_000;

/**
 * Editors who publish and withhold documents in turn, each document at most once a second, at the
 * teams doors of all documents processes. A failed call is not repeated and ends the changes to its
 * document, except after the answer "too many transitions at once; try again".
 */
export class EditorialLoad implements AsyncDisposable {
  readonly documents: readonly FlowingDocument[];
  readonly failures: string[] = [];
  readonly #editor: RpcClient<typeof DocumentService>;
  readonly #startedMs = performance.now();
  readonly #stop = new AbortController();
  readonly #loops: Promise<unknown>;

  private constructor(editor: RpcClient<typeof DocumentService>, documents: readonly FlowingDocument[]) {
    this.#editor = editor;
    this.documents = documents;
    this.#loops = Promise.all(documents.map((document, index) => this.#flow(document, index)));
  }

  /** @param target a gRPC target that names the teams doors of all documents processes */
  static async open(target: string, tenantId: string, count: number): Promise<EditorialLoad> {
    const editor = openRpcClient(DocumentService, { target, defaultTimeoutMs: 30_000 });
    const ids = Array.from({ length: count }, async () => {
      const draft = article();
      const documentJson = Buffer.from(JSON.stringify(draft));
      await editor.createDocument({ tenantId, draft: { documentJson } }, as("editor"));
      return { tenantId, documentId: draft.id, sequence: 0 };
    });
    return new EditorialLoad(editor, await Promise.all(ids));
  }

  async #flow(document: FlowingDocument, index: number): Promise<void> {
    await pause((index * everyMs) / this.documents.length);
    while (!this.#stop.signal.aborted) {
      const name = document.sequence % 2 === 0 ? "publish" : "withhold";
      const { tenantId, documentId } = document;
      try {
        const transition = { documentId, name, expectedVersion: 1n };
        await this.#editor.transitionDocument({ tenantId, transition }, as("admin"));
        document.sequence += 1;
      } catch (error) {
        // Nothing was changed. On a busy machine a tenant's transactions take longer than a call
        // waits for its turn.
        if (String(error).includes("too many transitions at once")) continue;
        const seconds = Math.round((performance.now() - this.#startedMs) / 1_000);
        this.failures.push(`${name} ${documentId} after ${seconds} s: ${String(error)}`);
        return;
      }
      await pause(everyMs);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loops;
    this.#editor[Symbol.dispose]();
  }
}

import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Code, ConnectError } from "@connectrpc/connect";
import type { RpcClient } from "@vidimus/kit/rpc/client/client";
import { setTimeout as pause } from "node:timers/promises";
import { article, as } from "./newsroom.ts";

type Editor = RpcClient<typeof DocumentService>;

/** One document and the sequence of its newest snapshot. */
interface Published {
  readonly tenantId: string;
  readonly documentId: string;
  sequence: number;
}

const batchMax = 64;
const repeatMs = 60_000;

/**
 * Publishes and withholds documents in turn. A transition without an answer is looked up, and
 * repeated unless it was committed, so each document gets exactly the snapshots it should have even
 * if processes are killed meanwhile.
 */
export class PublishingRun {
  readonly published: Published[] = [];
  readonly #editor: Editor;

  constructor(editor: Editor) {
    this.#editor = editor;
  }

  /** Snapshots that are known to be committed. */
  get count(): number {
    return this.published.reduce((sum, { sequence }) => sum + sequence, 0);
  }

  /** Creates articles of a tenant. Returns only these. */
  async create(tenantId: string, count: number): Promise<Published[]> {
    const created: Published[] = [];
    await this.#untilReached(tenantId);
    for (let left = count; left > 0; left -= batchMax) {
      const drafts = Array.from({ length: Math.min(left, batchMax) }, () => article());
      const items = drafts.map((each) => ({ tenantId, draft: { documentJson: Buffer.from(JSON.stringify(each)) } }));
      const { results } = await this.#editor.batchCreateDocuments({ items }, as("editor"));
      const refused = results.find(({ outcome }) => outcome.case !== "created");
      if (refused) throw new Error("a draft was refused", { cause: refused.outcome.value });
      created.push(...drafts.map(({ id }) => ({ tenantId, documentId: id, sequence: 0 })));
    }
    this.published.push(...created);
    return created;
  }

  /** Publishes or withholds all documents step by step, until each has `sequence` snapshots. */
  async advance(documents: readonly Published[], sequence: number): Promise<void> {
    for (const until = Date.now() + repeatMs; ;) {
      const open = documents.filter((each) => each.sequence < sequence);
      if (open.length === 0) return;
      if (Date.now() > until) throw new Error(`${open.length} documents are not published after ${repeatMs} ms`);
      const lowest = Math.min(...open.map((each) => each.sequence));
      const due = open.filter((each) => each.sequence === lowest);
      for (const [tenantId, own] of Map.groupBy(due, (each) => each.tenantId)) {
        for (let at = 0; at < own.length; at += batchMax) await this.#step(tenantId, own.slice(at, at + batchMax));
      }
    }
  }

  async #step(tenantId: string, documents: readonly Published[]): Promise<void> {
    const transitions = documents.map(({ documentId, sequence }) => {
      return { documentId, name: sequence % 2 === 0 ? "publish" : "withhold", expectedVersion: 1n };
    });
    try {
      const { results } = await this.#editor.batchTransitionDocuments({ tenantId, transitions }, as("admin"));
      for (const [at, { outcome }] of results.entries()) {
        const document = documents[at]!;
        if (outcome.case === "transitioned") document.sequence = Number(outcome.value.sequence);
        else await this.#look(document);
      }
    } catch (error) {
      if (!(error instanceof ConnectError) || ![Code.Unavailable, Code.DeadlineExceeded].includes(error.code))
        throw error;
      for (const document of documents) await this.#look(document);
    }
  }

  /**
   * Waits until documents answers. A channel connects again only a moment after its server was
   * restarted.
   */
  async #untilReached(tenantId: string): Promise<void> {
    for (const until = Date.now() + repeatMs; ; await pause(50)) {
      try {
        await this.#editor.listDocuments({ tenantId, limit: 1 }, as("editor"));
        return;
      } catch (error) {
        if (Date.now() > until) throw error;
      }
    }
  }

  /** Reads the sequence: a transition that was refused or not answered may be committed. */
  async #look(published: Published): Promise<void> {
    for (const until = Date.now() + repeatMs; ; await pause(50)) {
      try {
        const { document } = await this.#editor.getDocument(published, as("admin"));
        published.sequence = Number(document?.lastPublished?.sequence ?? 0);
        return;
      } catch (error) {
        if (Date.now() > until) throw error;
      }
    }
  }
}

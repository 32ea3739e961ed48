import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, vi } from "vitest";

/** A webhook as it arrived, and how it was answered. */
export interface Post {
  readonly documentId: string;
  readonly sequence: number;
  readonly webhookId: string;
  readonly bodySha256: string;
  readonly atMs: number;
  /** Position of this post among all posts to the receiver, from 1. */
  readonly number: number;
  /** Sequences of the same document that the receiver had accepted before this post arrived. */
  readonly acceptedBefore: readonly number[];
  /** Set when the answer is ended. */
  status?: number;
}

export type Answer = (post: Post, response: ServerResponse, request: IncomingMessage) => void;

/**
 * A document and the sequence of its newest snapshot; its older snapshots have the lower numbers.
 */
interface Expected {
  readonly documentId: string;
  readonly sequence: number;
}

/** Records what a receiver got, and finds what breaks a promise of delivery. */
export class DeliveryLedger {
  readonly posts: Post[] = [];
  readonly #accepted = new Map<string, number[]>();

  /** Notes a webhook before it is answered. */
  note(body: Buffer, webhookId: string): Post {
    const { documentId, sequence } = (JSON.parse(body.toString()) as { data: Expected }).data;
    const bodySha256 = createHash("sha256").update(body).digest("hex");
    const acceptedBefore = this.#accepted.get(documentId) ?? [];
    const number = this.posts.length + 1;
    const post = { documentId, sequence, webhookId, bodySha256, atMs: performance.now(), number, acceptedBefore };
    this.posts.push(post);
    return post;
  }

  noteAnswer(post: Post, status: number): void {
    post.status = status;
    if (status < 200 || status > 299) return;
    const { documentId, sequence } = post;
    this.#accepted.set(documentId, [...(this.#accepted.get(documentId) ?? []), sequence]);
  }

  /** The sequences of a document that were accepted, in the order of the answers. */
  acceptedOf(documentId: string): readonly number[] {
    return this.#accepted.get(documentId) ?? [];
  }

  /**
   * Snapshots for which neither the snapshot nor a newer one of its document was accepted; with
   * `each`, all snapshots that were not accepted themselves.
   */
  missing(expected: readonly Expected[], each = false): string[] {
    return expected.flatMap(({ documentId, sequence }) => {
      const accepted = this.acceptedOf(documentId);
      const has = each ? (n: number) => accepted.includes(n) : (n: number) => accepted.some((other) => other >= n);
      const all = Array.from({ length: sequence }, (_, at) => at + 1);
      return all.filter((n) => !has(n)).map((n) => `${documentId} ${n}`);
    });
  }

  /** Posts that break the order of their document, and repeats with another id or body. */
  faults(): string[] {
    const faults: string[] = [];
    const known = new Map<string, string>();
    const newest = new Map<string, number>();
    for (const { documentId, sequence, webhookId, bodySha256, acceptedBefore, number } of this.posts) {
      const name = `${documentId} ${sequence}`;
      if (acceptedBefore.some((accepted) => accepted > sequence)) {
        faults.push(`${name}: post ${number} came after ${Math.max(...acceptedBefore)} was accepted`);
      }
      const same = `${webhookId} ${bodySha256}`;
      const first = known.get(name);
      if (first === undefined && sequence < (newest.get(documentId) ?? 0)) {
        faults.push(`${name}: first post ${number} came after one of ${newest.get(documentId)}`);
      }
      if (first !== undefined && first !== same) faults.push(`${name}: post ${number} has another id or body`);
      known.set(name, first ?? same);
      newest.set(documentId, Math.max(sequence, newest.get(documentId) ?? 0));
    }
    return faults;
  }

  /**
   * Waits until every snapshot was accepted, or a newer one of its document; then expects no
   * `faults`.
   *
   * @param options.each every snapshot itself must be accepted
   */
  async expectDelivered(expected: readonly Expected[], options: { each?: boolean; ms?: number } = {}): Promise<void> {
    const { each = false, ms = 45_000 } = options;
    const isThere = () => this.missing(expected, each).length === 0;
    await vi.waitUntil(isThere, { timeout: ms, interval: 100 }).catch(() => {});
    const missing = this.missing(expected, each);
    expect({ missing: missing.length, first: missing.slice(0, 5) }).toEqual({ missing: 0, first: [] });
    expect(this.faults()).toEqual([]);
  }
}

export interface LedgerReceiver extends AsyncDisposable {
  readonly url: string;
  readonly ledger: DeliveryLedger;
  answerWith(answer: Answer): void;
}

const accept: Answer = (_post, response) => response.writeHead(204).end();

export function ledgerListener(ledger: DeliveryLedger, answer: () => Answer): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const post = ledger.note(Buffer.concat(chunks), String(request.headers["webhook-id"]));
      const end = response.end.bind(response);
      // Note the answer before its bytes leave: `acceptedBefore` of a post that the sender makes
      // because of the answer must include it.
      response.end = ((...args: Parameters<typeof end>) => {
        ledger.noteAnswer(post, response.statusCode);
        return end(...args);
      }) as typeof response.end;
      answer()(post, response, request);
    });
  };
}

/** Opens a receiver on a free port of 127.0.0.1. It answers 204 until `answerWith` is called. */
export async function openLedgerReceiver(): Promise<LedgerReceiver> {
  const ledger = new DeliveryLedger();
  let answer = accept;
  const server = createServer(ledgerListener(ledger, () => answer));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    ledger,
    answerWith: (next) => void (answer = next),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

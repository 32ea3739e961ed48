import { randomUUID } from "node:crypto";
import { success } from "./answers.ts";
import { article, as, type Newsroom } from "./newsroom.ts";

/** A document as publisher reads show it. */
export interface PublishedJson {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly meta: { readonly status: string; readonly version: number; readonly slug: string };
  readonly content: object;
  readonly links: readonly object[];
  readonly updated_at: string;
}

/** `data` of a collection. */
interface CollectionPage {
  readonly items: readonly PublishedJson[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

/** `data` of the change feed. */
export interface Changes {
  readonly items: readonly {
    readonly change: "upsert" | "withdraw";
    readonly id: string;
    readonly type: string;
    readonly version: number;
    readonly sequence: number;
    readonly updated_at: string;
    readonly document?: PublishedJson;
  }[];
  readonly since: string;
  readonly hasMore: boolean;
}

const contentOf: Readonly<Record<string, object>> = {
  "core/image": { alt: "A ferry", renditions: [{ url: "https://example.com/ferry.jpg" }] },
  "core/audio": { streams: [{ url: "https://example.com/ferry.mp3" }], durationMs: 1000 },
  "core/tag": { name: "Ferries" },
  "core/publisher-site": { name: "Example News" },
};

/** A complete document of any core type that can be published without edits. */
export function draftOf(type: string, { meta, ...overrides }: { meta?: object; [name: string]: unknown } = {}) {
  const id = randomUUID();
  const base = { slug: `x-${id}`, language: "en", credit: "TT", hosts: [`${id}.example`] };
  const content = contentOf[type];
  return article({ id, type, links: [], ...(content ? { content } : {}), ...overrides, meta: { ...base, ...meta } });
}

export async function publish(room: Newsroom, document: ReturnType<typeof article>): Promise<string> {
  const id = await room.push(document);
  await transition(room, id, "publish");
  return id;
}

/** Applies a transition to a version of a document, as admin. */
export async function transition(room: Newsroom, documentId: string, name: string, version = 1): Promise<void> {
  const transition = { documentId, name, expectedVersion: BigInt(version) };
  await room.documents.transitionDocument({ tenantId: room.tenantId, transition }, as("admin"));
}

/** Writes the version of a document after `seen`, as an editor. */
export async function edit(room: Newsroom, document: ReturnType<typeof article>, seen: number): Promise<void> {
  const documentJson = Buffer.from(JSON.stringify(document));
  const request = { tenantId: room.tenantId, documentId: document.id, expectedVersion: BigInt(seen), documentJson };
  await room.documents.updateDocument(request, as("editor"));
}

/** `data` of a publisher read, which must succeed. */
export function read<Data>(room: Newsroom, path: string): Promise<Data> {
  return success<Data>(room.request(`/v1/publisher${path}`), 200);
}

/** One document, which must be published. */
export async function readDocument(room: Newsroom, path: string): Promise<PublishedJson> {
  return (await read<{ document: PublishedJson }>(room, path)).document;
}

/** Every item of a collection, page by page. */
export async function walk(room: Newsroom, path: string, limit = 200): Promise<PublishedJson[]> {
  const items: PublishedJson[] = [];
  for (let cursor = ""; ;) {
    const page = await read<CollectionPage>(
      room,
      `${path}${path.includes("?") ? "&" : "?"}limit=${limit}&cursor=${cursor}`,
    );
    items.push(...page.items);
    if (!page.hasMore) return items;
    cursor = page.nextCursor;
  }
}

/** Every change since a token, and the token after the last. */
export async function follow(room: Newsroom, since: string, query = "", limit = 200) {
  const items: Changes["items"][number][] = [];
  for (let token = since; ;) {
    const answer = await read<Changes>(room, `/changes?since=${token}&limit=${limit}${query}`);
    items.push(...answer.items);
    token = answer.since;
    if (!answer.hasMore) return { items, since: token };
  }
}

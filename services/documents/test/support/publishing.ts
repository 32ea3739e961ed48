import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { DatabaseVersion, MigrateMode } from "@vidimus/kit/mongo/database-version";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { type Db, MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { adminByDefault, callMs, runDocuments } from "./running-documents.ts";

export function as(role: string, actor = `${role}@example.com`) {
  return { headers: { "vidimus-role": role, "vidimus-actor": actor } };
}

/** An article that may be published. */
export function article(
  overrides: { id?: string; slug?: string; text?: string; meta?: object; links?: object[] } = {},
) {
  const id = overrides.id ?? randomUUID();
  return {
    id,
    type: "core/article",
    title: "Snow on the pass",
    meta: { slug: overrides.slug ?? `snow-${id}`, language: "de", ...overrides.meta },
    content: { blocks: [{ type: "core/text", data: { html: overrides.text ?? "It snows." } }] },
    links: overrides.links ?? [],
  };
}

/** A documents service, with clients of both of its doors, and its database. */
export interface Publishing extends AsyncDisposable {
  documents: RpcClient<typeof DocumentService>;
  published: RpcClient<typeof PublishedDocumentService>;
  feed: RpcClient<typeof SnapshotFeedService>;
  db: Db;
  database: string;
  target: string;
  meshTarget: string;
  create(tenantId: string, document: object): Promise<string>;
  /** Takes a document through a transition as admin, by default with 1 as the expected version. */
  take(tenantId: string, documentId: string, name: string, version?: number): Promise<Taken>;
  /** The newest 200 public items of a type, core/article by default. */
  list(tenantId: string, type?: string): Promise<Item[]>;
}

export interface Taken {
  version: bigint;
  status: string;
  sequence: bigint;
}

export interface Item {
  id: string;
  updated_at: string;
  meta: { status: string; version: number; slug: string };
}

/** Starts a documents service; give `database` to use the database of another service. */
export async function runPublishing(options: {
  mongoUrl: string;
  natsUrl: string;
  database?: string;
  migrate?: MigrateMode;
  databaseVersion?: DatabaseVersion;
  attestationKeyFile?: string;
}): Promise<Publishing> {
  await using stack = new AsyncDisposableStack();
  const running = stack.use(await runDocuments(options));
  const { target, meshTarget, database } = running;
  const documents = adminByDefault(stack.use(openRpcClient(DocumentService, { target, defaultTimeoutMs: callMs })));
  const published = stack.use(
    openRpcClient(PublishedDocumentService, { target: meshTarget, defaultTimeoutMs: callMs }),
  );
  const feed = stack.use(openRpcClient(SnapshotFeedService, { target: meshTarget, defaultTimeoutMs: callMs }));
  const mongo = await new MongoClient(options.mongoUrl).connect();
  stack.defer(() => mongo.close());
  const opened = stack.move();
  return {
    documents,
    published,
    feed,
    database,
    target,
    meshTarget,
    db: mongo.db(database),
    async create(tenantId, document) {
      const documentJson = Buffer.from(JSON.stringify(document));
      return (await documents.createDocument({ tenantId, draft: { documentJson } })).documentId;
    },
    async take(tenantId, documentId, name, version = 1) {
      const transition = { documentId, name, expectedVersion: BigInt(version) };
      return documents.transitionDocument({ tenantId, transition }, as("admin"));
    },
    async list(tenantId, type = "core/article") {
      const { itemsJson } = await published.listPublishedDocuments({ tenantId, type, limit: 200 });
      return JSON.parse(Buffer.from(itemsJson).toString());
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

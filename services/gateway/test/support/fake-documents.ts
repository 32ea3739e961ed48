import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type BatchCreateDocumentsRequest,
  type CreateDocumentRequest,
  type CreateDocumentResultSchema,
  DocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import {
  type ListPublishedDocumentsRequest,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import type { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { DomainError, type ErrorKind } from "@vidimus/kit/errors";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { createMetrics } from "@vidimus/kit/telemetry/metrics";
import { Readiness } from "@vidimus/kit/readiness";
import { startMeshServer } from "@vidimus/kit/rpc/doors/mesh/mesh-server";
import { partialRoute, type RpcRoute } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { parseUuid, uuidv7 } from "@vidimus/kit/ids";

/** Serves routes at a mesh door, as another service would. */
export function serve(routes: RpcRoute[], port = 0) {
  const log = createLogger("fake", "silent");
  return startMeshServer({
    routes,
    host: "127.0.0.1",
    port,
    readiness: new Readiness(),
    log,
    metrics: createMetrics("fake"),
  });
}

type Result = MessageInitShape<typeof CreateDocumentResultSchema>;

/** A documents service that remembers the ids of created drafts, and serves one page. */
export class FakeDocuments {
  /** From the tenant and the id of a stored document, with a space between, to its intake token. */
  readonly stored = new Map<string, string>();
  readonly batches: { request: BatchCreateDocumentsRequest; header: Headers }[] = [];
  readonly lists: ListPublishedDocumentsRequest[] = [];
  readonly revalidated: ListPublishedDocumentsRequest[] = [];
  /** Runs before a batch is answered; throw to fail the call after its items were stored. */
  beforeAnswer: (call: number) => Promise<void> | void = () => {};
  /** Runs before the items of a batch are stored. */
  beforeWork: (call: number) => Promise<void> | void = () => {};
  page: { itemsJson: string; nextCursor: string; hasMore: boolean; etag: string } = {
    itemsJson: "[]",
    nextCursor: "",
    hasMore: false,
    etag: 'W/"empty"',
  };
  /** The current tag, if not the page's: documents may give a new page an outdated tag. */
  currentEtag: string | undefined;
  listFailure: Error | undefined;
  /** From the id of a document to the refusal of its create. */
  readonly refusals = new Map<string, MessageInitShape<typeof ErrorInfoSchema>>();

  routes(): RpcRoute[] {
    const documents: Partial<ServiceImpl<typeof DocumentService>> = {
      batchCreateDocuments: async (request, context) => {
        const call = this.batches.push({ request, header: context.requestHeader });
        await this.beforeWork(call);
        const results = request.items.map((item) => this.#create(item));
        await this.beforeAnswer(call);
        return { results };
      },
    };
    const published: Partial<ServiceImpl<typeof PublishedDocumentService>> = {
      revalidatePublishedPages: ({ pages }) => {
        this.revalidated.push(...pages);
        const current = this.currentEtag ?? this.page.etag;
        return { etags: pages.map(({ ifNoneMatch }) => (ifNoneMatch === current ? current : "")) };
      },
      listPublishedDocuments: (request) => {
        this.lists.push(request);
        if (this.listFailure) throw this.listFailure;
        const { itemsJson, ...page } = this.page;
        if (request.ifNoneMatch === page.etag) return { etag: page.etag, notModified: true };
        return { ...page, itemsJson: Buffer.from(itemsJson) };
      },
    };
    return [partialRoute(DocumentService, documents), partialRoute(PublishedDocumentService, published)];
  }

  #create({ tenantId, draft }: CreateDocumentRequest): Result {
    const { documentJson, intakeToken = "" } = draft ?? {};
    const id = idOf(Buffer.from(documentJson ?? []).toString());
    if (id === undefined) return failed("invalid", "the body is not a document");
    const refusal = this.refusals.get(id);
    if (refusal) return { outcome: { case: "error", value: refusal } };
    const key = `${tenantId} ${id}`;
    const holder = this.stored.get(key) ?? intakeToken;
    if (holder !== intakeToken) return failed("already_exists", `document ${id} already exists`);
    this.stored.set(key, intakeToken);
    return { outcome: { case: "created", value: { documentId: id } } };
  }
}

function idOf(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { id?: unknown; payload?: unknown };
    if (body.payload !== undefined) return uuidv7();
    return typeof body.id === "string" ? parseUuid(body.id) : undefined;
  } catch {
    return undefined;
  }
}

function failed(kind: ErrorKind, message: string): Result {
  const violations = kind === "invalid" ? [{ pointer: "/id", message: "must be a UUID" }] : [];
  return { outcome: { case: "error", value: { kind, message, violations } } };
}

export const unavailable = (): DomainError => new DomainError("unavailable", "the database cannot be reached");

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type GetPublishedDocumentRequest,
  type GetPublishedSiteRequest,
  type GetPublishedVersionRequest,
  type GetPublishedVersionResponseSchema,
  type ListPublishedChangesRequest,
  type ListPublishedChangesResponseSchema,
  type ListPublishedDocumentsRequest,
  type ListPublishedVersionsRequest,
  type ListPublishedVersionsResponseSchema,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { route, type RpcRoute } from "@vidimus/kit/rpc/doors/teams/teams-server";

type Request =
  | GetPublishedDocumentRequest
  | GetPublishedSiteRequest
  | GetPublishedVersionRequest
  | ListPublishedChangesRequest
  | ListPublishedDocumentsRequest
  | ListPublishedVersionsRequest;

const text = (json: string): Uint8Array => Buffer.from(json);

/** A `PublishedDocumentService` that answers with the values of its fields. */
export class FakePublisher {
  readonly asked: Request[] = [];
  /** Thrown by every method while it is set. */
  failure: Error | undefined;
  etag = 'W/"e1"';
  documentJson = '{"id":"a", "n":1.50}';
  includedJson = "";
  itemsJson = '[{"id":"a", "n":1.50}]';
  siteJson = '{"hosts":["a"], "n":1.0}';
  versions: MessageInitShape<typeof ListPublishedVersionsResponseSchema> = {};
  version: MessageInitShape<typeof GetPublishedVersionResponseSchema> = { version: 7n, snapshots: [] };
  /** Answers `listPublishedChanges`; tests replace it. */
  changes: (
    request: ListPublishedChangesRequest,
    context: Pick<HandlerContext, "signal" | "timeoutMs">,
  ) => Promise<MessageInitShape<typeof ListPublishedChangesResponseSchema>> = async () => ({
    itemsJson: text("[]"),
    since: "t0",
  });

  route(): RpcRoute {
    const implementation: ServiceImpl<typeof PublishedDocumentService> = {
      listPublishedDocuments: (request) => ({
        ...this.#conditional(request),
        itemsJson: text(this.itemsJson),
        nextCursor: "c1",
        hasMore: true,
      }),
      revalidatePublishedPages: ({ pages }) => ({
        etags: pages.map((page) => {
          const { etag, notModified } = this.#conditional(page);
          return notModified ? etag : "";
        }),
      }),
      getPublishedDocument: (request) => this.#document(request),
      batchGetPublishedDocuments: ({ items }) => ({
        results: items.map((item) => ({ outcome: { case: "found", value: this.#document(item) } })),
      }),
      getPublishedSite: (request) => ({ ...this.#conditional(request), siteJson: text(this.siteJson) }),
      listPublishedChanges: async (request, context) => {
        this.#note(request);
        return this.changes(request, context);
      },
      listPublishedVersions: (request) => this.#note(request) ?? this.versions,
      getPublishedVersion: (request) => this.#note(request) ?? this.version,
    };
    return route(PublishedDocumentService, implementation);
  }

  #document(request: GetPublishedDocumentRequest) {
    return {
      ...this.#conditional(request),
      documentJson: text(this.documentJson),
      includedJson: text(this.includedJson),
    };
  }

  #note(request: Request): undefined {
    this.asked.push(request);
    if (this.failure) throw this.failure;
  }

  #conditional(request: Request & { ifNoneMatch: string }): { etag: string; notModified: boolean } {
    this.#note(request);
    return { etag: this.etag, notModified: request.ifNoneMatch === this.etag };
  }
}

import type { PagePosition } from "./page-cursor.ts";

/** A published document: canonical bytes, and the range of the links in them. */
export interface PublishedDocument extends PagePosition {
  readonly bytes: Uint8Array;
  readonly linksStart: number;
  readonly linksEnd: number;
}

/** A document that was published: its newest publication, or its withdrawal without bytes. */
export interface PublicationState extends Partial<PublishedDocument> {
  readonly documentId: string;
  readonly type: string;
  readonly version: number;
  readonly sequence: number;
  readonly updatedAt: Date;
}

/** A publication that is not withdrawn, and so has its bytes. */
export type VisibleDocument = PublicationState & PublishedDocument;

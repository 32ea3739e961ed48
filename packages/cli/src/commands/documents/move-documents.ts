import {
  type Document,
  DocumentService,
  type TransitionDocumentResponse,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { CliError } from "../../failure.ts";
import { forEachAtOnce } from "../../feeds/for-each-at-once.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService, type ServiceCaller } from "../../rpc/open-service.ts";
import type { Session } from "../../session.ts";
import { printable } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";

/** Which of a document's versions a transition is about: the newest, or the one that is or was published. */
export type Aim = "head" | "live";

/** A transition to make. */
interface Step {
  readonly id: string;
  readonly name: string;
  readonly aim: Aim;
}

/** Where a document stands after a transition. */
export interface Moved {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  /** Of the snapshot that was made; 0 when none was. */
  readonly sequence: number;
  readonly updatedAt: string | null;
}

/** A document that was not moved, and why. */
interface Failed {
  readonly id: string;
  readonly reason: string;
}

/** Documents moved at the same time; the service makes one transaction of them. */
const atOnceMax = 8;

/** Moves one document. */
export async function moveDocument(session: Session, step: Step): Promise<Moved> {
  using documents = await openService(session, "documents", DocumentService);
  return await move(documents, session.settings.get("tenant"), step);
}

/** Moves every document it can, prints what became of each, and fails when any could not be moved. */
export async function moveDocuments(session: Session, ids: readonly string[], name: string, aim: Aim): Promise<void> {
  const tenantId = session.settings.get("tenant");
  using documents = await openService(session, "documents", DocumentService);
  const results: (Moved | Failed)[] = [];
  await forEachAtOnce([...new Set(ids)].entries(), atOnceMax, async ([place, id]) => {
    try {
      results[place] = await move(documents, tenantId, { id, name, aim });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      results[place] = { id, reason: error.message };
    }
  });
  const moved = results.filter((result) => "status" in result);
  const failed = results.filter((result) => "reason" in result);
  const lines = failed.map(({ id, reason }) => `failed: ${id}: ${reason}`);
  session.print({ moved, failed }, printable([...(moved.length > 0 ? [movedTable(moved)] : []), ...lines].join("\n")));
  if (failed.length > 0) throw new CliError(`${failed.length} of ${moved.length + failed.length} could not be moved`);
}

/** What became of documents, for people. */
export function movedTable(moved: readonly Moved[]): string {
  return table(
    ["id", "version", "status", "snapshot", "updated"],
    moved.map((row) => [row.id, String(row.version), row.status, String(row.sequence || "-"), row.updatedAt ?? "-"]),
  );
}

/** Reads the version a document stands at, then moves that one: an edit in between is an error, not a surprise. */
async function move(
  documents: ServiceCaller<typeof DocumentService>,
  tenantId: string,
  { id: documentId, name, aim }: Step,
): Promise<Moved> {
  const { document } = await documents.read((client, options) => client.getDocument({ tenantId, documentId }, options));
  if (!document) throw new CliError(`the documents service answered without the document ${documentId}`);
  const transition = { documentId, name, expectedVersion: aimedVersion(document, aim) };
  return toMoved(
    await documents.call((client, options) => client.transitionDocument({ tenantId, transition }, options)),
  );
}

/** Without a live version the service refuses the transition itself, in the words of its workflow. */
function aimedVersion({ version, live }: Document, aim: Aim): bigint {
  return aim === "live" && live ? live.version : version;
}

function toMoved({ documentId, version, status, sequence, updatedAt }: TransitionDocumentResponse): Moved {
  return {
    id: documentId,
    version: Number(version),
    status,
    sequence: Number(sequence),
    updatedAt: isoTime(updatedAt),
  };
}

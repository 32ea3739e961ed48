import {
  type Document,
  DocumentService,
  type TransitionDocumentResponse,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { CliError } from "../cli-error.ts";
import { forEachConcurrent } from "../for-each-concurrent.ts";
import { isoTime } from "../rpc/iso-time.ts";
import { openService, type ServiceCaller } from "../rpc/open-service.ts";
import type { Session } from "../session.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { readDocument } from "./read-document.ts";

/**
 * Which version of a document a transition is about: the newest, or the one that is or was
 * published.
 */
export type VersionChoice = "head" | "last-published";

/** A transition of one document. */
interface Transition {
  readonly id: string;
  readonly name: string;
  readonly on: VersionChoice;
}

/** Where a document stands after its transition. */
interface Transitioned {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  /** Of the snapshot that was made; 0 when none was. */
  readonly sequence: number;
  readonly updatedAt: string | null;
}

/** A document whose transition failed, and why. */
interface Failed {
  readonly id: string;
  readonly reason: string;
}

/** Requests open at the same time; the service makes one transaction of them. */
const concurrentMax = 8;

/** Applies a transition to one document. @throws CliError when the service refuses it */
export async function applyTransition(session: Session, transition: Transition): Promise<Transitioned> {
  using documents = await openService(session, "documents", DocumentService);
  return await apply(documents, session.settings.get("tenant"), transition);
}

/**
 * Applies a transition to each of several documents and prints the result of each.
 *
 * @throws CliError after the last one, when any of them failed
 */
export async function applyTransitions(
  session: Session,
  ids: readonly string[],
  name: string,
  on: VersionChoice,
): Promise<void> {
  const tenantId = session.settings.get("tenant");
  using documents = await openService(session, "documents", DocumentService);
  const results: (Transitioned | Failed)[] = [];
  await forEachConcurrent([...new Set(ids)].entries(), concurrentMax, async ([place, id]) => {
    try {
      results[place] = await apply(documents, tenantId, { id, name, on });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      results[place] = { id, reason: error.message };
    }
  });
  const transitioned = results.filter((result) => "status" in result);
  const failed = results.filter((result) => "reason" in result);
  session.print({ transitioned, failed }, toText(transitioned, failed));
  if (failed.length > 0) throw new CliError(`${failed.length} of ${results.length} transitions failed`);
}

/** A table of transitioned documents. */
export function transitionTable(transitioned: readonly Transitioned[]): string {
  return table(
    ["id", "version", "status", "snapshot", "updated"],
    transitioned.map(({ id, version, status, sequence, updatedAt }) => [
      id,
      String(version),
      status,
      String(sequence || "-"),
      updatedAt ?? "-",
    ]),
  );
}

function toText(transitioned: readonly Transitioned[], failed: readonly Failed[]): string {
  const done = transitioned.length > 0 ? [transitionTable(transitioned)] : [];
  return printable([...done, ...failed.map(({ id, reason }) => `failed: ${id}: ${reason}`)].join("\n"));
}

/**
 * Names the version that was just read: an edit between the two calls fails the transition with
 * ABORTED.
 */
async function apply(
  documents: ServiceCaller<typeof DocumentService>,
  tenantId: string,
  { id: documentId, name, on }: Transition,
): Promise<Transitioned> {
  const expectedVersion = versionOf(await readDocument(documents, tenantId, documentId), on);
  const transition = { documentId, name, expectedVersion };
  return fromProto(
    await documents.call((client, options) => client.transitionDocument({ tenantId, transition }, options)),
  );
}

/**
 * Of a document that was never published the newest version: the service refuses the transition.
 */
function versionOf({ version, lastPublished }: Document, on: VersionChoice): bigint {
  return on === "last-published" && lastPublished ? lastPublished.version : version;
}

function fromProto({ documentId, version, status, sequence, updatedAt }: TransitionDocumentResponse): Transitioned {
  return {
    id: documentId,
    version: Number(version),
    status,
    sequence: Number(sequence),
    updatedAt: isoTime(updatedAt),
  };
}

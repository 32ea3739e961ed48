import type { LastPublished } from "../document/document.ts";
import { sealSnapshot } from "../snapshots/seal-snapshot.ts";
import type { TransitionPlan } from "../workflow/plan-transition.ts";
import { type Loaded, traceOf } from "./attempt.ts";
import type { Changes } from "./changes.ts";
import type { SlugTable } from "./slug-table.ts";

export interface PublishBatch {
  readonly slugs: SlugTable;
  readonly now: Date;
  /** Sequences are higher than this; see `ApplyDeps`. */
  readonly sequenceFloor: number;
  readonly changes: Pick<Changes, "snapshots" | "publications">;
}

/**
 * Makes a new state public: seals a snapshot with the next sequence, and adds to `changes` the
 * snapshot and the publication, or a tombstone if the document is withdrawn or ended.
 */
export function publish(
  { request, head, version: { parts, keys } }: Loaded,
  { version, status, snapshot, isFinal }: NonNullable<TransitionPlan["lastPublished"]>,
  { slugs, now: updatedAt, changes, sequenceFloor }: PublishBatch,
): LastPublished {
  const { documentId, type } = head;
  const sequence = Math.max(head.lastPublished?.sequence ?? 0, sequenceFloor) + 1;
  const sealed = sealSnapshot(parts, { documentId, type, version, status: snapshot, updatedAt, isFinal });
  const { bytes, sha256, linksStart, linksEnd } = sealed;
  const row = { documentId, type, version, sequence, updatedAt };
  changes.snapshots.push({ ...row, status: snapshot, bytes, sha256, ...traceOf(request) });
  const isPublished = snapshot === "usable";
  const slug = isPublished ? keys.slug : undefined;
  slugs.claim(type, slug, documentId);
  const content = isPublished ? { content: { keys, bytes, linksStart, linksEnd } } : {};
  changes.publications.push({ ...row, isFirst: head.lastPublished === undefined, ...content });
  return { version, status, sequence, updatedAt, ...(slug === undefined ? {} : { slug }) };
}

import { createHash } from "node:crypto";
import type { Binary, MongoClient } from "mongodb";
import type { Step } from "./document-lifecycles.ts";
import { edited, type Tracked } from "./documents-load.ts";
import { readOneMoment } from "./read-one-moment.ts";
import { canonical } from "./webhook-checks.ts";

interface Parts {
  readonly title: Binary;
  readonly meta: Binary;
  readonly content: Binary;
  readonly links: Binary;
}
interface Head extends Parts {
  readonly version: number;
  readonly status: string;
  readonly lastPublished?: {
    readonly version: number;
    readonly status: string;
    readonly sequence: number;
    readonly updatedAt: Date;
    readonly slug?: string;
  };
}
interface PublishedRow {
  readonly version: number;
  readonly sequence: number;
  readonly updatedAt: Date;
  readonly slug?: string;
  readonly document?: Binary;
}
interface Slug {
  readonly slug: string;
}
interface Change {
  readonly transition?: string;
  readonly version: number;
  readonly at: Date;
}

export interface StoredSnapshot {
  readonly documentId: string;
  readonly sequence: number;
  readonly version: number;
  readonly status: string;
  readonly committedAt: Date;
  readonly bytes: Binary;
  readonly sha256: Binary;
  readonly signature?: { readonly keyId: string; readonly statement: string; readonly value: Binary };
}

/** All rows of one document in MongoDB. */
export interface Trace {
  readonly heads: readonly Head[];
  readonly versions: readonly (Parts & { readonly version: number })[];
  readonly history: readonly Change[];
  readonly publications: readonly PublishedRow[];
  readonly snapshots: readonly StoredSnapshot[];
  readonly slugs: readonly Slug[];
}

const order: Readonly<Record<keyof Trace, Record<string, 1>>> = {
  heads: { version: 1 },
  versions: { version: 1 },
  history: { at: 1, _id: 1 },
  publications: { sequence: 1 },
  snapshots: { sequence: 1 },
  slugs: { slug: 1 },
};
const collections = ["heads", "versions", "history", "publications", "snapshots", "slugs"] as const;

/**
 * Reads all rows of a tenant's documents as they are at one moment, from MongoDB itself. Returns
 * them by document id.
 */
export async function readTraces(mongo: MongoClient, tenantId: string): Promise<Map<string, Trace>> {
  return readOneMoment(mongo, async (session) => {
    const traces = new Map<string, Record<keyof Trace, unknown[]>>();
    for (const name of collections) {
      const rows = mongo
        .db("vidimus_documents")
        .collection<{ documentId: string }>(name)
        .find({ tenantId }, { session });
      for await (const row of rows.sort(order[name])) {
        const { documentId } = row;
        const trace = traces.get(documentId) ?? emptyTrace();
        traces.set(documentId, trace);
        trace[name].push(row);
      }
    }
    return traces as Map<string, unknown> as Map<string, Trace>;
  });
}

function emptyTrace(): Record<keyof Trace, unknown[]> {
  return { heads: [], versions: [], history: [], publications: [], snapshots: [], slugs: [] };
}

type Known = Pick<Tracked, "draft" | "lifecycle" | "done" | "isUnsure">;

/**
 * The differences between the rows of a document and those its steps must leave: an acknowledged
 * step is missing, a step exists that no caller requested, or only a part of a step is stored.
 */
export function traceFaults({ draft, lifecycle, done: known, isUnsure }: Known, trace: Trace | undefined): string[] {
  if (!trace) return [`${draft.id} is not stored`];
  const done = trace.history.length;
  if (done < known || done > known + (isUnsure ? 1 : 0)) return [`${draft.id} has done ${done} steps, not ${known}`];
  const steps = lifecycle.slice(0, done);
  const checks: Record<string, [unknown, unknown]> = {
    ...standing(steps, trace),
    ...readers(steps, trace, draft),
    texts: [texts(trace), steps.some(({ name }) => name === "edit") ? [edited(draft), draft].map(text) : [text(draft)]],
  };
  return Object.entries(checks)
    .map(([name, [found, wanted]]) => [name, JSON.stringify(found), JSON.stringify(wanted)] as const)
    .filter(([, found, wanted]) => found !== wanted)
    .map(([name, found, wanted]) => `${draft.id} after ${done} steps: ${name} is ${found}, not ${wanted}`);
}

/**
 * Checks of head, history and snapshots: from name to what is found and what is wanted. All rows of
 * one step have the same time.
 */
function standing(steps: readonly Step[], trace: Trace): Record<string, [unknown, unknown]> {
  const head = trace.heads[0];
  const last = head?.lastPublished;
  const sealing = steps.map((step, at) => ({ ...step, at })).filter(({ snapshot }) => snapshot !== undefined);
  return {
    heads: [trace.heads.length, 1],
    head: [`${head?.version} ${head?.status}`, steps.at(-1)?.head ?? "1 draft"],
    lastPublished: [last && `${last.version} ${last.status}`, steps.at(-1)?.lastPublished],
    "lastPublished.sequence": [last?.sequence, sealing.length || undefined],
    "lastPublished.updatedAt": [last?.updatedAt, trace.snapshots.at(-1)?.committedAt],
    "lastPublished.slug": [last?.slug, trace.publications[0]?.slug],
    history: [
      trace.history.map(({ transition = "edit", version }) => `${transition} ${version}`),
      steps.map(({ name, version }) => `${name} ${version}`),
    ],
    snapshots: [
      trace.snapshots.map(({ sequence, version, status }) => ({ sequence, version, status })),
      sealing.map(({ version, snapshot }, index) => ({ sequence: index + 1, version, status: snapshot })),
    ],
    "times of snapshots": [
      trace.snapshots.map(({ committedAt }) => committedAt),
      sealing.map(({ at }) => trace.history[at]?.at),
    ],
    digests: [trace.snapshots.map(({ sha256 }) => hex(sha256)), trace.snapshots.map(({ bytes }) => digest(bytes))],
  };
}

/**
 * Checks of the rows behind publisher reads: bytes and slug of the newest snapshot, or a tombstone
 * if it is withheld.
 */
function readers(
  steps: readonly Step[],
  { publications, snapshots, slugs }: Trace,
  draft: Tracked["draft"],
): Record<string, [unknown, unknown]> {
  const newest = snapshots.at(-1);
  const isOut = newest?.status === "usable";
  const slug = `ferry-${draft.id}`;
  const shown = newest && { version: newest.version, sequence: newest.sequence, ...(isOut ? { slug } : {}) };
  const wasWithdrawn = steps.some(({ snapshot }) => snapshot === "withheld");
  return {
    publications: [
      publications.map(({ version, sequence, slug: held }) => ({ version, sequence, ...(held ? { slug: held } : {}) })),
      shown ? [shown] : [],
    ],
    "publication.updatedAt": [publications[0]?.updatedAt, newest?.committedAt],
    "publication.document": [
      publications[0]?.document && hex(publications[0].document),
      isOut ? hex(newest.bytes) : undefined,
    ],
    "retired slugs": [slugs.map((row) => row.slug), wasWithdrawn ? [slug] : []],
  };
}

/** The content of the head, then that of the older versions. */
function texts({ heads, versions }: Trace): string[] {
  return [...heads, ...versions].map(({ title, meta, content, links }) =>
    [title, meta, content, links].map((part) => Buffer.from(part.value()).toString()).join("\n"),
  );
}

function text(draft: Tracked["draft"]): string {
  return ["title", "meta", "content", "links"].map((member) => canonical(draft[member])).join("\n");
}

function hex(bytes: Binary): string {
  return Buffer.from(bytes.value()).toString("hex");
}

function digest(bytes: Binary): string {
  return createHash("sha256").update(bytes.value()).digest("hex");
}

import { Binary, type Db, type Document, ObjectId } from "mongodb";
import { createHash } from "node:crypto";
import { assembleDocument } from "../src/domain/document/assemble-document.ts";

/** The tenant of all rows. */
export const tenantId = "newsroom";

/** What has become of a document: these in turn, by its number. */
const fates = ["draft", "published", "withdrawn", "renamed", "edited"] as const;

/** A document of a database of version 2, and its rows there and after a migration. */
export interface OldDocument {
  readonly documentId: string;
  readonly fate: (typeof fates)[number];
  /** The slug that it is or was published under. */
  readonly slug: string;
  /** The slug before that, of a renamed one. */
  readonly formerSlug: string;
  /** By collection: the rows of version 2. */
  readonly old: Readonly<Record<string, Document[]>>;
  /** By collection: the same rows as a fresh database of the newest version has them. */
  readonly fresh: Readonly<Record<string, Document[]>>;
}

const type = "core/article";
const by = { actor: "ed", role: "editor" };
const utf8 = (text: string) => Buffer.from(text);
const begun = Date.parse("2026-11-01T00:00:00.000Z");

/** The document of a number; the same every time. */
export function oldDocument(at: number): OldDocument {
  const fate = fates[at % fates.length] ?? "draft";
  const hex = createHash("md5").update(String(at)).digest("hex");
  const documentId = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
  const [slug, formerSlug] = [`ferry-${at}`, `boat-${at}`];
  const about = { at, documentId, fate, slug, formerSlug };
  const history = [{ ...identity(about, 3), at: new Date(begun + at), by, version: 1, from: "draft", to: "usable" }];
  const same = { history, snapshots: fate === "draft" ? [] : [snapshotOf(about)] };
  return {
    documentId,
    fate,
    slug,
    formerSlug,
    old: { ...same, heads: [oldHead(about)], publications: oldPublications(about), slugs: oldSlugs(about) },
    fresh: { ...same, heads: [freshHead(about)], publications: freshPublications(about), slugs: freshSlugs(about) },
  };
}

type About = Pick<OldDocument, "documentId" | "fate" | "slug" | "formerSlug"> & { readonly at: number };

/** A row's id names its document and its collection. */
function identity({ at, documentId }: About, collection: number) {
  const id = collection.toString(16).padStart(8, "0") + at.toString(16).padStart(16, "0");
  return { _id: new ObjectId(id), tenantId, documentId };
}

function stampOf({ at, fate }: About) {
  const sequence = fate === "withdrawn" || fate === "renamed" ? 2 : 1;
  const status = fate === "withdrawn" ? "withheld" : "usable";
  const version = fate === "renamed" ? 2 : 1;
  return { version, status, sequence, updatedAt: new Date(begun + at) };
}

function bytesOf(about: About) {
  const { documentId, slug } = about;
  const meta = utf8(`{"language":"de","slug":"${slug}"}`);
  const content = utf8('{"blocks":[{"data":{"html":""},"type":"core/text"}]}');
  const parts = { content, links: utf8("[]"), meta, title: utf8(`"Ferry ${about.at}"`) };
  return { parts, assembled: assembleDocument(parts, { documentId, type, ...stampOf(about) }) };
}

function head(about: About): Document {
  const { fate, at } = about;
  const { parts } = bytesOf(about);
  const [version, status] = headState(fate);
  const binaries = Object.entries(parts).map(([name, bytes]) => [name, new Binary(bytes)]);
  const times = { createdAt: new Date(begun), createdBy: by, changedAt: new Date(begun + at), changedBy: by };
  const workflow = { workflowId: "editorial", workflowVersion: 1, schemaGeneration: 0 };
  return {
    ...identity(about, 1),
    type,
    ...Object.fromEntries(binaries),
    intakeDigest: new Binary(createHash("sha256").update(String(at)).digest()),
    ...workflow,
    ...times,
    version,
    status,
  };
}

function headState(fate: OldDocument["fate"]): [number, string] {
  switch (fate) {
    case "draft":
      return [1, "draft"];
    case "published":
      return [1, "usable"];
    case "withdrawn":
      return [1, "withheld"];
    case "renamed":
      return [2, "usable"];
    case "edited":
      return [2, "draft"];
    default:
      return fate satisfies never;
  }
}

const isOut = ({ fate }: About) => fate !== "draft" && fate !== "withdrawn";

function oldHead(about: About): Document {
  return { ...head(about), ...(about.fate === "draft" ? {} : { live: stampOf(about) }) };
}

function freshHead(about: About): Document {
  if (about.fate === "draft") return head(about);
  const slug = isOut(about) ? { slug: about.slug } : {};
  return { ...head(about), lastPublished: { ...stampOf(about), ...slug } };
}

function oldPublications(about: About): Document[] {
  return freshPublications(about).map((row) => Object.assign(row, { state: isOut(about) ? "live" : "withdrawn" }));
}

function freshPublications(about: About): Document[] {
  if (about.fate === "draft") return [];
  const { version, sequence, updatedAt } = stampOf(about);
  const row = { ...identity(about, 2), type, version, sequence, updatedAt };
  if (!isOut(about)) return [row];
  const { bytes, linksStart, linksEnd } = bytesOf(about).assembled;
  return [{ ...row, document: new Binary(bytes), linksStart, linksEnd, slug: about.slug, language: "de" }];
}

function oldSlugs(about: About): Document[] {
  const current = { ...identity(about, 4), type, slug: about.slug, current: isOut(about) };
  const former = { ...identity(about, 5), type, slug: about.formerSlug, current: false };
  if (about.fate === "draft") return [];
  return about.fate === "renamed" ? [current, former] : [current];
}

/** Only the slugs that no document has. */
function freshSlugs(about: About): Document[] {
  return oldSlugs(about).flatMap(({ current, ...row }) => (current ? [] : [row]));
}

function snapshotOf(about: About): Document {
  const { version, status, sequence, updatedAt } = stampOf(about);
  const { bytes } = bytesOf(about).assembled;
  const sealed = { bytes: new Binary(bytes), sha256: new Binary(createHash("sha256").update(bytes).digest()) };
  return { ...identity(about, 6), type, version, status, sequence, committedAt: updatedAt, ...sealed, pending: true };
}

const place = { tenantId: 1, documentId: 1 } as const;
const newestFirst = { updatedAt: -1, documentId: -1 } as const;
const oldIndexes: readonly [string, Record<string, 1 | -1>, object][] = [
  ["heads", place, { unique: true }],
  ["publications", place, { unique: true }],
  ["publications", { tenantId: 1, type: 1, state: 1, ...newestFirst }, {}],
  ["publications", { tenantId: 1, type: 1, slug: 1, ...newestFirst }, partial("slug")],
  ["slugs", { tenantId: 1, type: 1, slug: 1 }, { unique: true }],
  ["slugs", place, {}],
  ["snapshots", { ...place, sequence: 1 }, { unique: true }],
];

function partial(column: string): object {
  return { partialFilterExpression: { [column]: { $exists: true } } };
}

/** Makes a database of version 2 with `count` documents, as its code would have written them. */
export async function writeVersion2(db: Db, count: number): Promise<void> {
  for (const [name, key, options] of oldIndexes) await db.collection(name).createIndex(key, options);
  for (let from = 0; from < count; from += 1_000) {
    const size = Math.min(1_000, count - from);
    const rows = Array.from({ length: size }, (_, at) => oldDocument(from + at).old);
    for (const name of ["heads", "publications", "slugs", "history", "snapshots"]) {
      const own = rows.flatMap((row) => row[name] ?? []);
      if (own.length > 0) await db.collection(name).insertMany(own, { ordered: false, writeConcern: { w: 1 } });
    }
  }
  const tick = new Date(begun + count);
  await db.collection("clocks").insertOne({ tenantId, tick, types: { [type]: tick }, holder: "2", rival: null });
  await db.collection<{ _id: number; at: Date }>("migrations").insertOne({ _id: 2, at: new Date() });
}

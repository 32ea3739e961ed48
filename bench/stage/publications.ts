import { assembleDocument } from "@vidimus/documents/domain/document/assemble-document";
import { canonicalJson } from "@vidimus/documents/domain/json/canonical-json";
import { encodeCursor, walkOf } from "@vidimus/documents/domain/published-reads/page-cursor";
import { readKeys } from "@vidimus/documents/domain/published-reads/publication-keys";
import { type PublicationRow, toPublicationRow } from "@vidimus/documents/store/publication-row";
import type { Db } from "mongodb";
import { createHash } from "node:crypto";
import { runCallers } from "../load/caller-load.ts";
import { article } from "../load/article.ts";

/** Published articles, numbered from 0 for the newest. */
interface Publications {
  readonly count: number;
  idAt(index: number): string;
  /** The cursor of the page that begins after the publication. */
  cursorAt(index: number): string;
}

/** The query that cursors are made for: all articles. Under another query they are ignored. */
const walk = walkOf(["core/article", {}, null]);
/** A page of 50 has about 79 KB. */
const articleBytes = 1_620;
const batchMax = 1_000;
const newest = new Date("2026-11-21T09:30:00.000Z").getTime();

/**
 * Inserts publications directly into the database of the documents service, in the form of its
 * store, because publishing a million would take a quarter of an hour. Takes about a minute and a
 * half for the million.
 */
export async function seedPublications(db: Db, tenantId: string, count: number): Promise<Publications> {
  const rows = db.collection<PublicationRow>("publications");
  let next = count;
  const insertOne = () => {
    const last = next;
    next -= batchMax;
    const size = Math.min(batchMax, last);
    if (size <= 0) return undefined;
    const batch = Array.from({ length: size }, (_, offset) => publicationAt(tenantId, last - 1 - offset));
    return rows.insertMany(batch, { ordered: false, writeConcern: { w: 1 } });
  };
  await runCallers({ callers: 3, durationMs: 30 * 60_000, call: insertOne });
  const tick = new Date(newest);
  const clock = { tick, types: { "core/article": tick }, holder: "bench", rival: null };
  await db.collection("clocks").updateOne({ tenantId }, { $set: clock }, { upsert: true });
  const cursorAt = (index: number) =>
    encodeCursor({ position: { updatedAt: updatedAtOf(index), documentId: idOf(index) }, moment: 0n }, walk);
  return { count, idAt: idOf, cursorAt };
}

const { title, content, links, meta, type } = article(articleBytes);
const shared = {
  content: canonicalJson(JSON.parse(JSON.stringify(content))),
  links: canonicalJson(JSON.parse(JSON.stringify(links))),
  title: canonicalJson(title),
};

function publicationAt(tenantId: string, index: number): PublicationRow {
  const documentId = idOf(index);
  const updatedAt = updatedAtOf(index);
  const keys = { slug: `ferry-${documentId}`, language: meta.language };
  const parts = { ...shared, meta: canonicalJson({ ...meta, ...keys }) };
  const assembled = assembleDocument(parts, { documentId, type, status: "usable", version: 1, updatedAt });
  const content = { keys: readKeys(type, { meta: { ...meta, ...keys }, links: [] }), ...assembled };
  return toPublicationRow(tenantId, { documentId, type, version: 1, sequence: 1, updatedAt, isFirst: true, content });
}

/** Spreads ids over the index, as ids of real documents are. */
function idOf(index: number): string {
  const hex = createHash("md5").update(String(index)).digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}

function updatedAtOf(index: number): Date {
  return new Date(newest - index * 1_000);
}

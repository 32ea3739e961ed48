import { Binary, type ClientSession, type Db, type MongoClient } from "mongodb";
import { createHash, randomUUID } from "node:crypto";
import { article } from "../load/article.ts";

interface Row {
  tenantId: string;
  documentId: string;
  [column: string]: unknown;
}

export interface BareSnapshot {
  readonly documentId: string;
  readonly bytes: Uint8Array;
  readonly sha256: Buffer;
}

/** Writes the documents service's rows with the driver: no checks, no canonical form, no RPC. */
interface BarePublications {
  /** Stores drafts of 2 KB. Returns their ids. */
  seed(count: number): Promise<string[]>;
  /** Publishes a draft in a transaction of its own. */
  publish(documentId: string): Promise<BareSnapshot>;
}

const key = { tenantId: 1, documentId: 1 } as const;
const tenantId = "demo";

/** Makes the indexes and the tenant's clock. */
export async function openBarePublications(client: MongoClient, db: Db): Promise<BarePublications> {
  const heads = db.collection<Row>("heads");
  const history = db.collection<Row>("history");
  const publications = db.collection<Row>("publications");
  const snapshots = db.collection<Row>("snapshots");
  const clocks = db.collection<{ tenantId: string; tick: Date }>("clocks");
  for (const rows of [heads, publications]) await rows.createIndex(key, { unique: true });
  await snapshots.createIndex({ ...key, sequence: 1 }, { unique: true });
  await publications.createIndex({ tenantId: 1, type: 1, updatedAt: -1, documentId: -1 });
  await history.createIndex({ ...key, at: 1 });
  await clocks.createIndex({ tenantId: 1 }, { unique: true });
  await clocks.updateOne({ tenantId }, { $set: { tick: new Date() } }, { upsert: true });

  async function transact(session: ClientSession, documentId: string): Promise<BareSnapshot> {
    const options = { session };
    const tick = { $max: ["$$NOW", { $add: ["$tick", 1] }] };
    const clock = await clocks.findOneAndUpdate({ tenantId }, [{ $set: { tick } }], {
      ...options,
      returnDocument: "after",
    });
    const head = await heads.findOne({ tenantId, documentId }, options);
    if (!clock || !head) throw new Error("there is no such draft");
    const updatedAt = clock.tick;
    const { type, body } = head;
    const bytes = body instanceof Binary ? body.value() : Buffer.of();
    const sha256 = createHash("sha256").update(bytes).digest();
    const name = { tenantId, documentId };
    const lastPublished = { version: 1, status: "usable", sequence: 1, updatedAt };
    await heads.updateOne(name, { $set: { status: "usable", lastPublished } }, options);
    await history.insertOne({ ...name, at: updatedAt, transition: "publish", from: "draft", to: "usable" }, options);
    await publications.insertOne({ ...name, type, version: 1, sequence: 1, updatedAt, document: body }, options);
    const seal = { bytes: body, sha256: new Binary(sha256), committedAt: updatedAt, pending: true };
    await snapshots.insertOne({ ...name, sequence: 1, ...seal }, options);
    return { documentId, bytes, sha256 };
  }

  return {
    async seed(count) {
      const body = new Binary(Buffer.from(JSON.stringify(article(2_000))));
      const ids = Array.from({ length: count }, () => randomUUID());
      const rows = ids.map((documentId) => {
        return { tenantId, documentId, type: "core/article", version: 1, status: "draft", body };
      });
      await heads.insertMany(rows);
      return ids;
    },
    async publish(documentId) {
      await using session = client.startSession();
      return await session.withTransaction(() => transact(session, documentId), {
        readConcern: { level: "snapshot" },
        writeConcern: { w: "majority", journal: true },
      });
    },
  };
}

/** Between `migrate --prepare` and `migrate`, processes of version 2 run beside those of today. */
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { type Mongo, openMongo } from "@vidimus/kit/mongo/mongo";
import type { Document } from "mongodb";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { migrate, prepareDatabase } from "../src/store/migrate.ts";
import { article, as, type Publishing, runPublishing } from "./publishing.ts";
import { oldDocument, writeVersion2 } from "./version-2-rows.ts";

const tenantId = "desk";
const names = ["heads", "publications", "slugs"] as const;
let prepared: { mongo: Mongo; service: Publishing };
let fresh: { mongo: Mongo; service: Publishing };
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  prepared = await open("prepared", async (mongo) => {
    await writeVersion2(mongo.db, 10);
    await prepareDatabase(mongo);
  });
  fresh = await open("fresh", async (mongo) => void (await migrate(mongo)));
});
afterAll(() => stack.disposeAsync());

async function open(label: string, make: (mongo: Mongo) => Promise<void>) {
  const [mongoUrl, database] = [inject("mongoUrl"), testDatabaseName(label)];
  const mongo = stack.use(await openMongo({ url: mongoUrl, database, appName: "prepared-test" }));
  stack.defer(async () => void (await mongo.db.dropDatabase()));
  await make(mongo);
  const settings = { mongoUrl, natsUrl: inject("natsUrl"), database, migrate: "off" } as const;
  return { mongo, service: stack.use(await runPublishing(settings)) };
}

const ids = ["a", "b", "c", "d"].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);

/** Leaves a document published, one withdrawn, one under its second slug, and a taken-over slug. */
async function work(service: Publishing): Promise<void> {
  const [published = "", withdrawn = "", renamed = "", heir = ""] = ids;
  for (const [id, slug] of [
    [published, "storm"],
    [withdrawn, "flood"],
    [renamed, "frost"],
    [heir, "hail"],
  ] as const) {
    await service.create(tenantId, article({ id, slug }));
    await service.take(tenantId, id, "publish");
  }
  await service.take(tenantId, withdrawn, "withhold");
  await edit(service, renamed, "ice");
  await edit(service, heir, "frost");
}

async function edit(service: Publishing, documentId: string, slug: string): Promise<void> {
  const documentJson = Buffer.from(JSON.stringify(article({ id: documentId, slug })));
  await service.documents.updateDocument({ tenantId, documentId, expectedVersion: 1n, documentJson }, as("admin"));
  await service.take(tenantId, documentId, "publish", 2);
}

/** The rows of the work, without what differs from run to run, in order. */
async function rowsOf({ db }: Mongo): Promise<Record<string, Document[]>> {
  const found = names.map(async (name) => {
    const rows = await db.collection(name).find({ tenantId }).sort({ documentId: 1, slug: 1 }).toArray();
    return [name, rows.map(({ _id, ...row }) => withoutTimes(row))] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

function withoutTimes(row: Document): Document {
  const varying = new Set(["document", "linksStart", "linksEnd", "intakeToken"]);
  const columns = Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    if (value instanceof Date || varying.has(name)) return [];
    return [[name, name === "lastPublished" || name === "live" ? withoutTimes(value) : value]];
  });
  return Object.fromEntries(columns.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function columnsOf(rows: readonly Document[]): string[][] {
  return rows.map((row) => Object.keys(row).toSorted());
}

describe("a process of today on a prepared database", () => {
  test("writes what processes of version 2 read", async () => {
    await work(prepared.service);
    const { heads, publications, slugs } = await rowsOf(prepared.mongo);
    const [published, withdrawn] = [oldDocument(1), oldDocument(2)].map(({ old }) => old);
    const like = (name: string, rows: typeof published) => columnsOf((rows?.[name] ?? []).map(withoutTimes))[0] ?? [];
    const bare = (columns: string[]) => columns.filter((name) => name !== "_id");
    expect(columnsOf(heads?.slice(0, 2) ?? [])).toEqual(
      [published, withdrawn].map((rows) => bare(like("heads", rows))),
    );
    expect(heads?.map(({ live }) => live)).toEqual([
      { version: 1, status: "usable", sequence: 1 },
      { version: 1, status: "withheld", sequence: 2 },
      { version: 2, status: "usable", sequence: 2 },
      { version: 2, status: "usable", sequence: 2 },
    ]);
    expect(columnsOf(publications?.slice(0, 2) ?? [])).toEqual(
      [published, withdrawn].map((rows) => bare(like("publications", rows))),
    );
    expect(publications?.map(({ state }) => state)).toEqual(["live", "withdrawn", "live", "live"]);
    expect(slugs?.map(({ slug, documentId, current }) => `${slug} ${documentId[0]} ${current}`).toSorted()).toEqual([
      "flood b false",
      "frost d true",
      "hail d false",
      "ice c true",
      "storm a true",
    ]);
  });

  test("finds the documents of version 2 by every slug, and takes them further", async () => {
    const { service, mongo } = prepared;
    const [published, renamed] = [oldDocument(1), oldDocument(3)];
    const own = "newsroom";
    for (const slug of [renamed.slug, renamed.formerSlug]) {
      const by = { case: "slug" as const, value: { type: "core/article", slug } };
      const { documentJson } = await service.published.getPublishedDocument({ tenantId: own, by });
      expect(JSON.parse(Buffer.from(documentJson).toString()).id).toBe(renamed.documentId);
    }
    await service.take(own, published.documentId, "withhold");
    const slugs = await mongo.db.collection("slugs").find({ documentId: published.documentId }).toArray();
    expect(slugs).toMatchObject([{ slug: published.slug, current: false }]);
  });
});

test("the rows it wrote become, by the migration, those that it writes in a fresh database", async () => {
  await work(fresh.service);
  await migrate(prepared.mongo);
  const { slugs, ...rows } = await rowsOf(prepared.mongo);
  const { slugs: freshSlugs, ...freshRows } = await rowsOf(fresh.mongo);
  expect(rows).toEqual(freshRows);
  // The row of a slug that another document has taken is not read; version 2 had it overwritten.
  expect(slugs).toEqual(freshSlugs?.filter(({ slug }) => slug !== "frost"));
});

test("a process that began on the prepared database writes today's rows once it has noticed", async () => {
  const { service, mongo } = prepared;
  const id = await service.create(tenantId, article());
  await expect
    .poll(
      async () => {
        await service.take(tenantId, id, "publish");
        const head = await mongo.db.collection("heads").findOne({ documentId: id });
        await service.take(tenantId, id, "withhold");
        return [head?.["lastPublished"]?.slug, head?.["live"]];
      },
      { timeout: 20_000, interval: 500 },
    )
    .toEqual([`snow-${id}`, undefined]);
});

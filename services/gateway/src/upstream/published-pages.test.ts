import { create } from "@bufbuild/protobuf";
import {
  ListPublishedDocumentsResponseSchema,
  RevalidatePublishedPagesResponseSchema,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { describe, expect, it } from "vitest";
import { pageReader } from "./published-pages.ts";

/** A documents service with one page for each cursor, whose tag changes with `publish`. */
function documents() {
  const compared: string[][] = [];
  const readWith: string[] = [];
  let edition = 1;
  const etagOf = (cursor = "") => `W/"${cursor} ${edition}"`;
  const read = pageReader({
    revalidatePublishedPages: async ({ pages = [] }) => {
      compared.push(pages.map(({ ifNoneMatch = "" }) => ifNoneMatch));
      const etags = pages.map(({ cursor, ifNoneMatch = "" }) => (ifNoneMatch === etagOf(cursor) ? ifNoneMatch : ""));
      return create(RevalidatePublishedPagesResponseSchema, { etags });
    },
    listPublishedDocuments: async ({ tenantId = "", cursor, ifNoneMatch = "" }) => {
      readWith.push(ifNoneMatch);
      if (ifNoneMatch === etagOf(cursor)) {
        return create(ListPublishedDocumentsResponseSchema, { etag: ifNoneMatch, notModified: true });
      }
      const itemsJson = Buffer.from(JSON.stringify([tenantId, cursor, edition]));
      return create(ListPublishedDocumentsResponseSchema, { itemsJson, etag: etagOf(cursor) });
    },
  });
  const page = (cursor = "", ifNoneMatch = "", tenantId = "demo") =>
    read({ tenantId, type: "core/tag", limit: 50, cursor, ifNoneMatch });
  const publish = () => void (edition += 1);
  return { page, publish, etagOf, compared, readWith };
}

const textOf = ({ itemsJson }: { itemsJson: Uint8Array }) => Buffer.from(itemsJson).toString();

describe("pages that are read together", () => {
  it("are shared only by readers who ask for the same page of the same tenant", async () => {
    const { page, readWith } = documents();
    const pages = await Promise.all([page(), page(), page(), page("", "", "rival"), page("c")]);
    expect(pages.map(textOf)).toEqual([
      ...Array.from({ length: 3 }, () => '["demo","",1]'),
      '["rival","",1]',
      '["demo","c",1]',
    ]);
    expect(readWith).toHaveLength(4);
  });

  /** Reads three pages for four clients; one of their tags is outdated. */
  async function readHeld() {
    const { page, etagOf, compared, readWith } = documents();
    const held = [
      ["a", etagOf("a")],
      ["b", "stale"],
      ["c", etagOf("c")],
      ["c", etagOf("c")],
    ] as const;
    const pages = await Promise.all(held.map(([cursor, tag]) => page(cursor, tag)));
    return { pages, etagOf, compared, readWith };
  }

  it("are compared in one call with the tags that clients hold", async () => {
    const { etagOf, compared } = await readHeld();
    expect(compared).toEqual([[etagOf("a"), "stale", etagOf("c")]]);
  });

  it("are read only for clients whose tags are outdated", async () => {
    const { pages, readWith } = await readHeld();
    expect(pages.map(({ notModified }) => notModified)).toEqual([true, false, true, true]);
    expect(readWith).toHaveLength(1);
  });

  it("are shared by readers with different outdated tags: four readers cost two reads", async () => {
    const { page, etagOf, readWith } = documents();
    await Promise.all(["stale 1", "stale 2", "stale 3", "stale 4"].map((tag) => page("", tag)));
    expect(readWith).toEqual(["", etagOf()]);
  });
});

describe("readers who ask while a page is read", () => {
  it("get the page of that read when a second read finds it unchanged", async () => {
    const { page, etagOf, readWith } = documents();
    const pages = await Promise.all([page(), page(), page("", "stale")]);
    expect(pages.map(textOf)).toEqual(Array.from({ length: 3 }, () => '["demo","",1]'));
    expect(readWith).toEqual(["", etagOf()]);
  });

  it("get the changed page when it changes during that read", async () => {
    const { page, publish } = documents();
    const [first, ...others] = [page(), page(), page()];
    publish();
    expect(textOf(await first)).toBe('["demo","",1]');
    expect((await Promise.all(others)).map(textOf)).toEqual(['["demo","",2]', '["demo","",2]']);
  });
});

describe("a page that was read twice without a change", () => {
  async function keptPage() {
    const service = documents();
    await service.page();
    await service.page();
    expect(service.compared).toEqual([]);
    return service;
  }

  it("is answered from the cache once the documents service has confirmed its tag", async () => {
    const { page, etagOf, compared, readWith } = await keptPage();
    const [plain, held] = await Promise.all([page(), page("", etagOf())]);
    expect([plain, held].map(textOf)).toEqual(['["demo","",1]', '["demo","",1]']);
    expect(compared).toEqual([[etagOf()]]);
    expect(readWith).toHaveLength(2);
  });

  it("is cached again after a change only once it was read twice without another change", async () => {
    const { page, publish, compared } = await keptPage();
    publish();
    expect(textOf(await page())).toBe('["demo","",2]');
    expect(compared).toHaveLength(1);
    publish();
    expect(textOf(await page())).toBe('["demo","",3]');
    expect(textOf(await page())).toBe('["demo","",3]');
    expect(compared).toHaveLength(1);
    await page();
    expect(compared).toHaveLength(2);
  });

  it("is answered from the cache to a client with an outdated tag, after one comparison of tags", async () => {
    const { page, etagOf, compared, readWith } = await keptPage();
    const answered = await page("", "stale");
    expect([textOf(answered), answered.notModified]).toEqual(['["demo","",1]', false]);
    expect(compared).toEqual([[etagOf()]]);
    expect(readWith).toHaveLength(2);
  });

  it("is answered as not modified to a client whose tag is newer than the cached one", async () => {
    const { page, publish, etagOf } = await keptPage();
    publish();
    expect((await page("", etagOf())).notModified).toBe(true);
  });
});

it("a page that was read once is not cached", async () => {
  const { page, compared } = documents();
  await page("a");
  await page("a");
  await page("b");
  await page("b");
  expect(compared).toEqual([]);
});

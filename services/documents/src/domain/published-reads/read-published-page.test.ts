import { describe, expect, test } from "vitest";
import { currentEtag, type PageRequest, type PublishedQuery, readPublishedPage } from "./read-published-page.ts";
import { decodeCursor, encodeCursor, walkOf } from "./page-cursor.ts";
import { pageEtag } from "./page-etag.ts";
import { type ClockReading, MomentAhead, type ReadAt } from "./tenant-clock.ts";

const type = "core/article";
const noFilter = { tag: undefined, site: undefined, language: undefined, slug: undefined };
const request: PageRequest = {
  type,
  limit: 50,
  cursor: "",
  refuseForeignCursor: false,
  ifNoneMatch: "",
  knownTag: "",
  filter: noFilter,
  includeLinks: true,
  includeLinked: false,
};
const { signal } = new AbortController();

/** The tick that `confirm` reads. */
const confirmedMs = 1_000;
const databaseMoment = 50n;

function at(ms: number, tags = 1): ClockReading {
  return { tick: new Date(ms), types: { [type]: new Date(ms), "core/tag": new Date(tags) } };
}

/**
 * A tenant's stores. `now` is the clock in the database, `remembered` the reading that the process
 * has kept, and `ticks` are those of the published documents.
 */
function stores(now: ClockReading, remembered: ClockReading | undefined, ticks: readonly number[]) {
  const looks: string[] = [];
  const documents = ticks.map((ms) => {
    const documentId = `00000000-0000-4000-8000-${String(ms).padStart(12, "0")}`;
    return { documentId, updatedAt: new Date(ms), bytes: Buffer.from("{}"), linksStart: 1, linksEnd: 1 };
  });
  return {
    looks,
    clocks: {
      read: async () => (looks.push("clock"), now),
      confirm: async () => (looks.push("confirm"), at(confirmedMs)),
      recall: () => remembered,
    },
    publications: {
      list: async (_tenantId: string, query: PublishedQuery, _bytesMax: number, { moment }: ReadAt) => {
        looks.push(`page${moment === undefined ? "" : ` at ${moment}`}${query.after ? " behind" : ""}`);
        if (moment !== undefined && moment > databaseMoment) throw new MomentAhead();
        return { documents, hasMore: false, moment: databaseMoment };
      },
      slugOf: async () => undefined,
      findVisible: async () => [],
    },
    slugs: { findDocument: async () => "tag-id" },
  };
}

async function tagOf(deps: ReturnType<typeof stores>, more: Partial<PageRequest> = {}) {
  const { etag, notModified } = await readPublishedPage(deps, "acme", { ...request, ...more }, signal);
  return { etag, notModified };
}

test("a request without a tag uses the clock that the process remembers, and reads only the page", async () => {
  const deps = stores(at(7), at(7), [7, 3]);
  await tagOf(deps);
  expect(deps.looks).toEqual(["page"]);
});

test("a request without a tag gets a tag that matches at the next request", async () => {
  const deps = stores(at(7), at(7), [7, 3]);
  const { etag } = await tagOf(deps);
  expect(await tagOf(deps, { ifNoneMatch: etag })).toEqual({ etag, notModified: true });
});

test("a process that remembers no clock reads the clock before the page", async () => {
  const deps = stores(at(7), undefined, [7]);
  await tagOf(deps);
  expect(deps.looks).toEqual(["clock", "page"]);
});

test("a tag is as new as the newest document of its page, even if the remembered clock is older", async () => {
  const { etag } = await tagOf(stores(at(7), at(3), [7, 3]));
  expect(await tagOf(stores(at(7), at(3), []), { ifNoneMatch: etag })).toMatchObject({ notModified: true });
});

test("the tag of a page that misses a withdrawal does not match at the next request", async () => {
  const { etag } = await tagOf(stores(at(9), at(3), [7]));
  expect(await tagOf(stores(at(9), at(3), []), { ifNoneMatch: etag })).toMatchObject({ notModified: false });
});

test("a page's tag does not match later if its filter's slug passed to another document during the read", async () => {
  const filter = { ...noFilter, tag: "snow" };
  // The slug passed to another tag at 5, after the slug was looked up and before the page was read.
  // The page shows a document of 7.
  const { etag } = await tagOf(stores(at(7, 5), at(3, 1), [7]), { filter });
  expect(await tagOf(stores(at(7, 5), undefined, []), { filter, ifNoneMatch: etag })).toMatchObject({
    notModified: false,
  });
});

describe("the clock is confirmed", () => {
  const query = [type, null, 50, "", noFilter, true];

  test.each([
    ["in updatedSince", { updatedSince: new Date(8) }, ["confirm", "page"]],
    ["in ifNoneMatch", { ifNoneMatch: pageEtag(new Date(8), query) }, ["clock", "confirm", "page"]],
    ["in knownTag", { knownTag: pageEtag(new Date(8), query) }, ["clock", "confirm", "page"]],
  ])(
    "before the page, when the request shows a later tick than the clock's first reading: %s",
    async (_, more, looks) => {
      const deps = stores(at(7), at(7), [7]);
      await tagOf(deps, more);
      expect(deps.looks).toEqual(looks);
    },
  );

  test.each([
    ["in updatedSince", { updatedSince: new Date(7) }, ["page"]],
    ["in knownTag", { knownTag: pageEtag(new Date(7), query) }, ["clock", "page"]],
    ["in the tag of another page", { knownTag: pageEtag(new Date(8), ["core/image"]) }, ["clock", "page"]],
    ["in the tag of any page (*)", { knownTag: "*" }, ["clock", "page"]],
  ])("not when the request shows no later tick of the page: %s", async (_, more, looks) => {
    const deps = stores(at(7), at(7), [7]);
    await tagOf(deps, more);
    expect(deps.looks).toEqual(looks);
  });

  test("also when only tags are compared, if a tag is newer than the clock's first reading", async () => {
    const deps = stores(at(7), at(7), []);
    const ifNoneMatch = pageEtag(new Date(confirmedMs), query);
    expect(await currentEtag(deps, "acme", { ...request, ifNoneMatch })).toBe(ifNoneMatch);
    expect(deps.looks).toEqual(["clock", "confirm"]);
  });
});

describe("a cursor", () => {
  const walk = walkOf([type, noFilter, null]);
  const position = { updatedAt: new Date(5), documentId: "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10" };
  const cursorAt = (moment: bigint, own = walk) => encodeCursor({ position, moment }, own);

  async function read(cursor: string, clock: ClockReading, more: Partial<PageRequest> = {}) {
    const deps = stores(clock, clock, [4]);
    const page = await readPublishedPage(deps, "acme", { ...request, cursor, ...more }, signal);
    return { looks: deps.looks, page };
  }

  test("reads at its own moment or the clock's, whichever is later, and the next cursor keeps that moment", async () => {
    const { looks, page } = await read(cursorAt(40n), { ...at(7), moment: 30n });
    expect(looks).toEqual(["page at 40 behind"]);
    expect(decodeCursor(page.nextCursor, walk)?.moment).toBe(40n);
    const later = await read(cursorAt(40n), { ...at(7), moment: 45n });
    expect(later.looks).toEqual(["page at 45 behind"]);
    expect(decodeCursor(later.page.nextCursor, walk)?.moment).toBe(45n);
  });

  test("of a page with a document that is newer than the clock has the moment of the page's read", async () => {
    const { page } = await read("", { ...at(3), moment: 30n });
    expect(decodeCursor(page.nextCursor, walk)?.moment).toBe(databaseMoment);
  });

  test.each([
    ["of another type", cursorAt(40n, walkOf(["core/image", noFilter, null]))],
    ["of another updatedSince", cursorAt(40n, walkOf([type, noFilter, 5]))],
    ["that is malformed", "nonsense"],
  ])("%s starts at the newest document, or is refused with refuseForeignCursor", async (_, cursor) => {
    expect((await read(cursor, at(7))).looks).toEqual(["page"]);
    await expect(read(cursor, at(7), { refuseForeignCursor: true })).rejects.toThrow(
      "cursor must be the nextCursor of a page of the same collection and filters",
    );
  });

  test("ahead of the database's clock starts at the newest document, or is refused with refuseForeignCursor", async () => {
    expect((await read(cursorAt(60n), at(7))).looks).toEqual(["page at 60 behind", "page"]);
    await expect(read(cursorAt(60n), at(7), { refuseForeignCursor: true })).rejects.toThrow("cursor must be");
  });
});

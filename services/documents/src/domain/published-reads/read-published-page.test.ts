import { expect, test } from "vitest";
import { type PageRequest, readPublishedPage } from "./read-published-page.ts";
import type { ClockReading } from "./tenant-clock.ts";

const type = "core/article";
const noFilter = { tag: undefined, site: undefined, language: undefined, slug: undefined };
const request: PageRequest = { type, limit: 50, cursor: "", ifNoneMatch: "", filter: noFilter, includeLinks: true };
const { signal } = new AbortController();

function at(ms: number, tags = 1): ClockReading {
  return { tick: new Date(ms), types: { [type]: new Date(ms), "core/tag": new Date(tags) } };
}

/** A tenant's stores: the clock as it is, as it is remembered, and the ticks of what is published. */
function stores(now: ClockReading, remembered: ClockReading | undefined, ticks: readonly number[]) {
  const looks: string[] = [];
  const documents = ticks.map((ms) => {
    return { documentId: `d${ms}`, updatedAt: new Date(ms), bytes: Buffer.from("{}"), linksStart: 1, linksEnd: 1 };
  });
  return {
    looks,
    clocks: {
      read: async () => (looks.push("clock"), now),
      recall: () => remembered,
    },
    publications: {
      list: async () => (looks.push("page"), { documents, hasMore: false }),
      slugOf: async () => undefined,
    },
    slugs: { findDocument: async () => "tag-id" },
  };
}

async function tagOf(deps: ReturnType<typeof stores>, more: Partial<PageRequest> = {}) {
  const { etag, notModified } = await readPublishedPage(deps, "acme", { ...request, ...more }, signal);
  return { etag, notModified };
}

test("a reader without a tag costs no read of the clock, and its tag holds as long as nothing was published", async () => {
  const deps = stores(at(7), at(7), [7, 3]);
  const { etag } = await tagOf(deps);
  expect(deps.looks).toEqual(["page"]);
  expect(await tagOf(deps, { ifNoneMatch: etag })).toEqual({ etag, notModified: true });
});

test("a process that remembers nothing reads the clock", async () => {
  const deps = stores(at(7), undefined, [7]);
  await tagOf(deps);
  expect(deps.looks).toEqual(["clock", "page"]);
});

test("a tag is as new as the newest document of its page, though the clock remembered is older", async () => {
  const { etag } = await tagOf(stores(at(7), at(3), [7, 3]));
  expect(await tagOf(stores(at(7), at(3), []), { ifNoneMatch: etag })).toMatchObject({ notModified: true });
});

test("a tag of a page that misses a withdrawal is too old, never too new", async () => {
  const { etag } = await tagOf(stores(at(9), at(3), [7]));
  expect(await tagOf(stores(at(9), at(3), []), { ifNoneMatch: etag })).toMatchObject({ notModified: false });
});

test("a page by a tag's slug does not vouch for the slug up to its newest document", async () => {
  const filter = { ...noFilter, tag: "snow" };
  // The slug passed to another tag at 5, between the look at it and the page, which shows 7.
  const { etag } = await tagOf(stores(at(7, 5), at(3, 1), [7]), { filter });
  expect(await tagOf(stores(at(7, 5), undefined, []), { filter, ifNoneMatch: etag })).toMatchObject({
    notModified: false,
  });
});

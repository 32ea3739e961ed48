/**
 * Section 5: `publisher:read` shows published content only. Hidden content is searched on every
 * path.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Newsroom } from "../support/newsroom.ts";
import { draftOf, edit, publish, transition } from "../support/site-reader.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;
let tenants: Tenants;
let room: Newsroom;
let rival: Newsroom;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  room = await tenants.create();
  rival = await tenants.create();
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

const collections = ["articles", "images", "audio", "tags", "sites"];
const publishable = ["core/article", "core/image", "core/audio", "core/tag", "core/publisher-site"];

/** Every path that could show a document: by id, slug and host, and every list. */
function pathsTo({ id, slug, host }: { id: string; slug: string; host: string }): string[] {
  const each = (suffixes: string[]) => collections.flatMap((name) => suffixes.map((suffix) => `/${name}${suffix}`));
  return [
    `/documents/${id}`,
    `/documents/${id}?include=links`,
    `/documents/${id}/versions`,
    ...[1, 2, 3].map((version) => `/documents/${id}/versions/${version}`),
    ...each([
      "?limit=200",
      "?limit=200&include=links",
      `?slug=${slug}`,
      `?tag=${id}`,
      `?tag=${slug}`,
      `?site=${id}`,
      `?site=${slug}`,
    ]),
    ...each(["?language=en&updatedSince=2020-01-01", `/slug/${slug}`, `/slug/${slug}?include=links`]),
    `/site?host=${host}`,
    "/site",
    "/changes?limit=200",
    ...publishable.map((type) => `/changes?limit=200&type=${type}`),
  ];
}

/** Each path to a document with its answer, in which snapshots are decoded. */
async function answersAbout(reader: Newsroom, names: Parameters<typeof pathsTo>[0]): Promise<[string, string][]> {
  const ask = async (path: string): Promise<[string, string]> => {
    const response = await reader.request(`/v1/publisher${path}`);
    const text = await response.text();
    expect([200, 404, 410], `${path} ${text}`).toContain(response.status);
    const snapshots = Array.from(text.matchAll(/"bytes":"([^"]*)"/g), ([, bytes = ""]) => bytes);
    return [path, [text, ...snapshots.map((bytes) => Buffer.from(bytes, "base64").toString())].join("\n")];
  };
  return Promise.all(pathsTo(names).map(ask));
}

async function everythingAbout(reader: Newsroom, names: Parameters<typeof pathsTo>[0]): Promise<string> {
  return (await answersAbout(reader, names)).map(([, text]) => text).join("\n");
}

let count = 0;

/**
 * A document with a unique id, slug and host. Its title contains `mark`, so every answer that shows
 * the document contains `mark`, too.
 */
function marked(type: string, mark: string, overrides: Parameters<typeof draftOf>[1] = {}) {
  count += 1;
  const names = { slug: `${mark.toLowerCase()}-${count}`, host: `h${count}.example` };
  const meta = { ...overrides.meta, slug: names.slug, hosts: [names.host], primary: true };
  const draft = draftOf(type, { ...overrides, title: `The ${mark}`, meta });
  return { ...names, draft, id: draft.id };
}

/** Publishes a document that links to the hidden one, because a link could show it. */
async function linkTo(id: string) {
  const links = ["core/tag", "core/publisher-site"].map((type) => ({ rel: "related", type, id }));
  const visible = marked("core/article", "VISIBLE", { links });
  await publish(room, visible.draft);
  return visible;
}

async function seek(hidden: Parameters<typeof pathsTo>[0]): Promise<string> {
  const visible = await linkTo(hidden.id);
  return `${await everythingAbout(room, hidden)}\n${await everythingAbout(room, visible)}`;
}

describe("searched on every path,", () => {
  test.each(publishable)("a published %s is found by id, in its collection and in changes", async (type) => {
    const mark = `FOUND-${publishable.indexOf(type)}`;
    const visible = marked(type, mark);
    await publish(room, visible.draft);
    const collection = collections[publishable.indexOf(type)];
    const answers = await answersAbout(room, visible);
    const paths = answers.filter(([, text]) => text.includes(`The ${mark}`)).map(([path]) => path);
    const { id, slug, host } = visible;
    expect(paths.toSorted()).toEqual(
      [
        `/documents/${id}`,
        `/documents/${id}?include=links`,
        `/documents/${id}/versions/1`,
        `/${collection}?limit=200`,
        `/${collection}?limit=200&include=links`,
        `/${collection}?slug=${slug}`,
        `/${collection}?language=en&updatedSince=2020-01-01`,
        `/${collection}/slug/${slug}`,
        `/${collection}/slug/${slug}?include=links`,
        ...(type === "core/publisher-site" ? [`/site?host=${host}`, "/site"] : []),
        "/changes?limit=200",
        `/changes?limit=200&type=${type}`,
      ].toSorted(),
    );
    expect(await seek(visible)).toContain('"included":{"');
    // A tenant has one primary site, so this one must not stay.
    await transition(room, id, "withhold");
  });

  test.each(publishable)("a %s that never left draft is not found", async (type) => {
    const hidden = marked(type, "DRAFT");
    await room.push(hidden.draft);
    expect(await seek(hidden)).not.toContain("The DRAFT");
  });

  test.each([
    ["published", []],
    ["published and withheld", ["withhold"]],
    ["published and killed", ["kill"]],
  ])("a core/newswire that was %s is not found", async (_how, path) => {
    const hidden = marked("core/newswire", "WIRE");
    await publish(room, hidden.draft);
    for (const name of path) await transition(room, hidden.id, name);
    const text = await seek(hidden);
    expect(text).not.toContain("The WIRE");
    expect(text).not.toContain("core/newswire");
  });

  test.each(publishable)("a %s that was withheld is not found, nor its snapshots", async (type) => {
    const hidden = marked(type, "WITHHELD");
    await publish(room, hidden.draft);
    await transition(room, hidden.id, "withhold");
    expect(await seek(hidden)).not.toContain("The WITHHELD");
  });

  test("a core/image that was killed is not found", async () => {
    const hidden = marked("core/image", "KILLED");
    await publish(room, hidden.draft);
    await transition(room, hidden.id, "kill");
    expect(await seek(hidden)).not.toContain("The KILLED");
  });

  test("the withheld snapshot of a document that was published again is not found", async () => {
    const visible = marked("core/article", "BACK");
    await publish(room, visible.draft);
    await transition(room, visible.id, "withhold");
    await transition(room, visible.id, "publish");
    const text = await seek(visible);
    expect(text).toContain("The BACK");
    expect(text).not.toMatch(/"status":"withheld"/);
    const sequences = (await (await room.request(`/v1/publisher/documents/${visible.id}/versions/1`)).json()) as {
      data: { version: { snapshots: { sequence: number; status: string }[] } };
    };
    expect(sequences.data.version.snapshots.map(({ sequence, status }) => [sequence, status])).toEqual([
      [1, "usable"],
      [3, "usable"],
    ]);
  });

  test("an unpublished version is not found, not even after a later one is published", async () => {
    const visible = marked("core/article", "LIVE");
    await publish(room, visible.draft);
    await edit(room, { ...visible.draft, title: "The SKIPPED" }, 1);
    await edit(room, { ...visible.draft, title: "The NEXT" }, 2);
    const text = await seek(visible);
    expect(text).toContain("The LIVE");
    expect(text).not.toMatch(/The (SKIPPED|NEXT)/);
    await transition(room, visible.id, "publish", 3);
    const after = await seek(visible);
    expect(after).toContain("The NEXT");
    expect(after).not.toContain("The SKIPPED");
  });

  test.each(publishable)("another tenant's %s is not found", async (type) => {
    const foreign = marked(type, "FOREIGN");
    await publish(rival, foreign.draft);
    expect(await seek(foreign)).not.toContain("The FOREIGN");
    expect(await everythingAbout(rival, foreign)).toContain("The FOREIGN");
    await transition(rival, foreign.id, "withhold");
  });

  test("another tenant's document of the same id, slug and host is not found", async () => {
    const own = marked("core/publisher-site", "OWN");
    await publish(room, own.draft);
    await publish(rival, { ...own.draft, title: "The TWIN" });
    expect(await seek(own)).not.toContain("The TWIN");
    expect(await everythingAbout(rival, own)).not.toContain("The OWN");
  });
});

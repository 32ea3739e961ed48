import { describe, expect, test } from "vitest";
import type { DocumentValue } from "../document/assemble-document.ts";
import { coreChecks } from "./core-types.ts";

function type(name: string) {
  const check = coreChecks.get(`core/${name}`)!;
  return {
    checkShape: (value: DocumentValue) => check(value, "shape"),
    checkPublishable: (value: DocumentValue) => check(value, "publication"),
  };
}

function document(more: Partial<DocumentValue> = {}): DocumentValue {
  return { title: "T", meta: {}, content: {}, links: [], ...more };
}

const complete: Record<string, Partial<DocumentValue>> = {
  newswire: {},
  article: { meta: { slug: "t", language: "de-CH" }, content: { blocks: [{ type: "core/text" }] } },
  image: { meta: { credit: "AP" }, content: { alt: "A", renditions: [{ url: "https://a/b.jpg" }] } },
  audio: { content: { streams: [{ url: "https://a/b.mp3" }], durationMs: 1000 } },
  tag: { meta: { slug: "t" } },
  "publisher-site": { meta: { slug: "s", hosts: ["a.example"], language: "en" } },
};

const missing: Record<string, string[]> = {
  newswire: [],
  article: ["/meta/slug", "/meta/language", "/content/blocks"],
  image: ["/meta/credit", "/content/alt", "/content/renditions"],
  audio: ["/content/streams", "/content/durationMs"],
  tag: ["/meta/slug"],
  "publisher-site": ["/meta/slug", "/meta/hosts", "/meta/language"],
};

test.each([
  ["slug", { slug: "a/b" }, "must be 1 to 200 characters without spaces, control characters, /, ?, # and %"],
  ["language", { language: "sv_SE" }, expect.stringMatching(/^must be a BCP 47 language tag such as sv or sv-SE/)],
  ["embargoUntil", { embargoUntil: "soon" }, expect.stringMatching(/^must be a date and time such as 2026-/)],
])("a value of meta.%s in a wrong format is refused with what the format demands", (key, meta, message) => {
  expect(type("article").checkShape(document({ meta }))).toEqual([{ pointer: `/meta/${key}`, message }]);
});

describe.each(Object.keys(complete))("core/%s", (name) => {
  test("asks for no key of meta or content on intake", () => {
    expect(type(name).checkShape(document())).toEqual([]);
  });

  test("names all that is missing for publication", () => {
    const pointers = type(name)
      .checkPublishable(document())
      .map(({ pointer }) => pointer);
    expect(new Set(pointers)).toEqual(new Set(missing[name]));
  });

  test("is publishable with just the required keys", () => {
    expect(type(name).checkPublishable(document(complete[name]))).toEqual([]);
  });

  test("is publishable with an unknown key in meta", () => {
    const value = complete[name];
    const more = { ...document(value), meta: { ...(value?.meta as object), "x-own": [{}] } };
    expect(type(name).checkPublishable(more)).toEqual([]);
  });

  test("is not publishable with a link without a type", () => {
    const wrong = { ...document(complete[name]), links: [{ rel: "r" }] };
    expect(
      type(name)
        .checkPublishable(wrong)
        .map(({ pointer }) => pointer),
    ).toContain("/links/0/type");
  });
});

const articleMeta = { slug: "s", language: "en" };

test.each<[string, string, Partial<DocumentValue>, string]>([
  ["article", "an empty list of blocks", { content: { blocks: [] }, meta: articleMeta }, "/content/blocks"],
  [
    "article",
    "a block without a type",
    { content: { blocks: [{ data: {} }] }, meta: articleMeta },
    "/content/blocks/0/type",
  ],
  [
    "image",
    "a rendition without a url",
    { ...complete["image"], content: { alt: "A", renditions: [{ name: "n" }] } },
    "/content/renditions/0/url",
  ],
  [
    "image",
    "an empty alternative text",
    { ...complete["image"], content: { alt: "", renditions: [{ url: "u" }] } },
    "/content/alt",
  ],
  ["publisher-site", "an empty list of hosts", { meta: { ...articleMeta, hosts: [] } }, "/meta/hosts"],
])("a core/%s with %s may be kept, but not published", (name, _, value, pointer) => {
  expect(type(name).checkShape(document(value))).toEqual([]);
  expect(
    type(name)
      .checkPublishable(document(value))
      .map((violation) => violation.pointer),
  ).toEqual([pointer]);
});

test.each<[string, Partial<DocumentValue>, string]>([
  ["article", { meta: { slug: "a b" } }, "/meta/slug"],
  ["article", { meta: { slug: "a/b" } }, "/meta/slug"],
  ["article", { meta: { language: "sv_SE" } }, "/meta/language"],
  ["article", { meta: { embargoUntil: "tomorrow" } }, "/meta/embargoUntil"],
  ["article", { meta: { newsValue: 2.5 } }, "/meta/newsValue"],
  ["article", { content: { blocks: [{ content: [{ links: [{}] }] }] } }, "/content/blocks/0/content/0/links/0/rel"],
  ["newswire", { meta: { urgency: 0 } }, "/meta/urgency"],
  ["newswire", { meta: { priority: "3" } }, "/meta/priority"],
  ["image", { meta: { mimeType: "audio/mpeg" } }, "/meta/mimeType"],
  ["image", { content: { focus: { x: 1.5, y: 0 } } }, "/content/focus/x"],
  ["tag", { meta: { kind: "thing" } }, "/meta/kind"],
])("a wrong value of a known key is refused: core/%s %j", (name, value, pointer) => {
  expect(
    type(name)
      .checkShape(document(value))
      .map((violation) => violation.pointer),
  ).toContain(pointer);
});

test("a time without an offset is accepted", () => {
  expect(type("newswire").checkShape(document({ meta: { issuedAt: "2026-01-05T10:00:00" } }))).toEqual([]);
});

function faultsOfBlocks(length: number): number {
  const blocks = Array.from({ length }, () => 0);
  return type("article").checkShape(document({ content: { blocks } })).length;
}

test("of 100 faults of a small document 20 are reported", () => {
  expect(faultsOfBlocks(100)).toBe(20);
});

test("of 40,000 faults of a document above 64 KiB one is reported", () => {
  expect(faultsOfBlocks(40_000)).toBe(1);
});

import { expect, test } from "vitest";
import { publicationKeys } from "./publication-keys.ts";

test("an article is found by slug, language, its tags and its sites", () => {
  const links = [
    { rel: "subject", type: "core/tag", id: "AB" },
    { rel: "section", type: "core/tag", id: "cd" },
    { rel: "subject", type: "core/tag", uri: "iptc:1" },
    { rel: "site", type: "core/publisher-site", id: "ef" },
    { rel: "author", type: "core/person", id: "gh" },
  ];
  const meta = { slug: "snow", language: "de-CH", sites: ["main", 7], hosts: ["x.example"] };
  expect(publicationKeys("core/article", { meta, links })).toEqual({
    slug: "snow",
    language: "de-ch",
    tags: ["ab", "cd"],
    sites: ["ef", "main"],
  });
});

test("a site is found by its hosts in any case", () => {
  const meta = { slug: "main", language: "de", hosts: ["WWW.Example.com", "example.com"] };
  const { hosts } = publicationKeys("core/publisher-site", { meta, links: [] });
  expect(hosts).toEqual(["www.example.com", "example.com"]);
});

test("what is of another kind than expected is passed over", () => {
  const meta = { slug: 7, language: ["de"], sites: "main" };
  expect(publicationKeys("core/article", { meta, links: "none" })).toEqual({});
  expect(publicationKeys("core/article", { meta: null, links: [null, 1, { type: "core/tag", id: 1 }] })).toEqual({});
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { filterNames, readKeys } from "./publication-keys.ts";

const none = {
  slug: undefined,
  host: undefined,
  primary: undefined,
  tag: undefined,
  site: undefined,
  language: undefined,
};

test("the keys of an article are its slug, language, tags and sites", () => {
  const links = [
    { rel: "subject", type: "core/tag", id: "AB" },
    { rel: "section", type: "core/tag", id: "cd" },
    { rel: "subject", type: "core/tag", uri: "iptc:1" },
    { rel: "site", type: "core/publisher-site", id: "ef" },
    { rel: "author", type: "core/person", id: "gh" },
  ];
  const meta = { slug: "snow", language: "de-CH", sites: ["main", 7], hosts: ["x.example"] };
  expect(readKeys("core/article", { meta, links })).toStrictEqual({
    ...none,
    slug: "snow",
    language: "de-ch",
    tag: ["ab", "cd"],
    site: ["ef", "main"],
  });
});

test("a site, unlike an article, has keys for its hosts, in normal form, and for being primary", () => {
  const meta = { slug: "main", language: "de", hosts: ["WWW.Example.com", "example.com:8080", "none/"], primary: true };
  const { host, primary } = readKeys("core/publisher-site", { meta, links: [] });
  expect(host).toEqual(["www.example.com", "example.com"]);
  expect(primary).toBe("true");
  expect(readKeys("core/article", { meta, links: [] })).toMatchObject({ host: undefined, primary: undefined });
});

test("a value of an unexpected JSON type gives no key", () => {
  const meta = { slug: 7, language: ["de"], sites: "main" };
  expect(readKeys("core/article", { meta, links: "none" })).toStrictEqual(none);
  const site = { hosts: "a.example", primary: "true" };
  expect(readKeys("core/publisher-site", { meta: site, links: [] })).toStrictEqual(none);
  expect(readKeys("core/article", { meta: null, links: [null, 1, { type: "core/tag", id: 1 }] })).toStrictEqual(none);
});

test("a value of more than 1,024 characters is left out", () => {
  const meta = { slug: "s".repeat(1_025), sites: ["t".repeat(1_025), "main"] };
  expect(readKeys("core/article", { meta, links: [] })).toStrictEqual({ ...none, site: ["main"] });
});

test("docs/publisher-reads.md names every filter in the address of a collection", () => {
  const page = readFileSync(new URL("../../../../../docs/publisher-reads.md", import.meta.url), "utf8");
  const [, query = ""] = /`\/\{coll\}\?([\w=&]+)`/.exec(page) ?? [];
  expect(filterNames.filter((name) => !query.split("&").includes(`${name}=`))).toEqual([]);
});

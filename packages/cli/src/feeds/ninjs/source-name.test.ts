import { expect, test } from "vitest";
import { sourceName } from "./source-name.ts";

const uri = "https://user@wire.example:8443/items/7?page=2";
const item = {
  infoSources: [{ name: " " }, { name: "Nordwire" }, { name: "Later" }],
  copyrightHolder: "Holder",
  by: "Author",
};

test("an item's source is the first of its infoSources that has a name or a literal", () => {
  expect(sourceName(uri, item)).toBe("Nordwire");
  expect(sourceName(uri, { ...item, infoSources: [{ literal: "NW" }] })).toBe("NW");
});

test("without infoSources the source is the copyright holder, else the byline, else the uri's authority", () => {
  expect(sourceName(uri, { ...item, infoSources: [] })).toBe("Holder");
  expect(sourceName(uri, { by: "Author", copyrightHolder: "" })).toBe("Author");
  expect(sourceName(uri, {})).toBe("wire.example:8443");
});

test.each([
  ["urn:newsml:wire.example:20260105:quake-1", "wire.example"],
  ["tag:wire.example,2026:quake-1", "wire.example"],
])("the authority in the uri %s is %s", (name, authority) => {
  expect(sourceName(name, {})).toBe(authority);
});

test.each(["urn:8d19cf88-b3ab-4972-8fec-1207599f2872", "quake-1"])("the uri %s has no authority", (name) => {
  expect(sourceName(name, {})).toBe(undefined);
});

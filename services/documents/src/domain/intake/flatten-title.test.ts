import { expect, test } from "vitest";
import type { JsonObject } from "../json/json-value.ts";
import { flattenTitle } from "./flatten-title.ts";

const paragraph = (...content: JsonObject[]) => ({ type: "paragraph", content });
const text = (text: string) => ({ type: "text", text });

test.each<[string, JsonObject, string]>([
  [
    "ProseMirror",
    { type: "doc", content: [paragraph(text("Quake "), { ...text("off"), marks: [] }, text(" Chile"))] },
    "Quake off Chile",
  ],
  [
    "two paragraphs",
    { type: "doc", content: [paragraph(text("Quake")), paragraph(text("off Chile"))] },
    "Quake off Chile",
  ],
  [
    "a hard break",
    { type: "doc", content: [paragraph(text("Quake"), { type: "hardBreak" }, text("off"))] },
    "Quake off",
  ],
  [
    "Lexical",
    { root: { type: "root", children: [{ type: "paragraph", children: [text("Zü"), text("rich")] }] } },
    "Zürich",
  ],
  [
    "Slate",
    { children: [{ type: "paragraph", children: [{ text: "A " }, { type: "link", children: [{ text: "b" }] }] }] },
    "A b",
  ],
  [
    "blocks",
    {
      blocks: [
        { type: "header", text: "One" },
        { type: "header", text: "two " },
      ],
    },
    "One two",
  ],
])("rich text is flattened: %s", (_, title, expected) => {
  expect(flattenTitle(title)).toBe(expected);
});

test.each<[string, JsonObject]>([
  ["an empty object", {}],
  ["an object without children", { text: "T" }],
  ["a document without text", { type: "doc", content: [] }],
  ["a document of white space", { type: "doc", content: [paragraph(text(" \n"))] }],
  ["children of another kind", { type: "doc", content: "T" }],
  ["a root that is no node", { root: "T" }],
])("an object that is no rich text, or has no text in it, has no plain form: %s", (_, title) => {
  expect(flattenTitle(title)).toBeUndefined();
});

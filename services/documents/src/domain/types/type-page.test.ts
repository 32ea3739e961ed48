import type { AnySchemaObject } from "ajv/dist/2020.js";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readDraft } from "../intake/read-draft.ts";
import { coreChecks, coreSchemas } from "./core-types.ts";

const root = join(import.meta.dirname, "../../../../..");
const page = readFileSync(join(root, "docs/document-types.md"), "utf8");

/** The text below a heading of the second level. */
function section(heading: string): string {
  const [, text = ""] = page.split(`\n## ${heading}\n`);
  return text.split("\n## ")[0] ?? "";
}

/** The rows of a section's tables whose first cell is code, each as a list of its cells. */
function tableRows(heading: string): string[][] {
  const lines = section(heading)
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  return lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function keysIn({ properties = {} }: AnySchemaObject, path: string): string[][] {
  return Object.entries<AnySchemaObject>(properties).flatMap(([name, schema]) => {
    const items: AnySchemaObject | undefined = schema["items"];
    const inner = items ? keysIn(items, `${path}.${name}[]`) : keysIn(schema, `${path}.${name}`);
    return [[`${path}.${name}`, kindOf(schema)]].concat(inner);
  });
}

function requiredIn(schema: AnySchemaObject | undefined, path: string): string[] {
  const { properties = {}, required = [] } = schema ?? {};
  const inner = Object.entries<AnySchemaObject>(properties).flatMap(([name, each]) =>
    each["items"] ? requiredIn(each["items"], `${path}.${name}[]`) : requiredIn(each, `${path}.${name}`),
  );
  return [...required.map((name: string) => `${path}.${name}`), ...inner];
}

const formats: Readonly<Record<string, string>> = {
  "iso-date-time": "date and time",
  "language-tag": "language tag",
  slug: "slug",
};

function kindOf(schema: AnySchemaObject): string {
  const { $ref, enum: words, type, format, pattern, items, minLength, minimum, maximum } = schema;
  if ($ref) return String($ref).replace(/.*\//, "");
  if (words) return words.map((word: string) => `\`${word}\``).join(", ");
  if (items) return `list of ${items.type}s`;
  if (pattern) return `string that matches \`${pattern}\``;
  if (format) return formats[format] ?? format;
  if (minLength) return "string, not empty";
  if (maximum !== undefined) return `${type}, ${minimum} to ${maximum}`;
  return minimum === undefined ? type : `${type}, at least ${minimum}`;
}

test.each([...coreSchemas])(
  "docs/document-types.md has each key of %s, its kind, and whether it is required",
  (name, schemas) => {
    const { shape, complete } = schemas;
    const keys = ["meta", "content"].flatMap((part) => keysIn(shape["properties"][part], part));
    const required = new Set(
      ["meta", "content"]
        .flatMap((part) => requiredIn(complete["properties"][part], part))
        // The page says this below "Blocks", not in the tables of the types.
        .filter((key) => key !== "content.blocks[].type"),
    );
    const expected = keys.map(([key = "", kind = ""]) => [`\`${key}\``, kind, required.has(key) ? "yes" : ""]);
    expect(tableRows(name).map((cells) => cells.slice(0, 3))).toEqual(expected);
  },
);

test("the examples of docs/document-types.md are complete documents of the six types", () => {
  const [, json = ""] = /```json\n([^]*?)```/.exec(section("An example of each")) ?? [];
  const examples = json.split(/\n(?=\{)/).filter((text) => text.trim() !== "");
  const types = examples.map((text) => {
    const { document, violations } = readDraft(Buffer.from(text), { as: "create", tenantId: "t", intakeToken: "" });
    expect(violations).toEqual([]);
    expect(coreChecks.get(document!.type)!(document!.value!, "publication"), text).toEqual([]);
    return document!.type;
  });
  expect(types).toEqual([...coreSchemas.keys()]);
});

test("README, docs and the API description show only block types that docs/document-types.md lists", () => {
  const known = new Set(tableRows("Blocks").map(([type = ""]) => type.replaceAll("`", "")));
  const types = new Set(coreSchemas.keys());
  const docs = readdirSync(join(root, "docs")).filter((name) => /\.(md|json)$/.test(name));
  const shown = ["README.md", ...docs.map((name) => `docs/${name}`)].flatMap((name) => {
    const blocks = readFileSync(join(root, name), "utf8").matchAll(/"type":\s*"(core\/[\w-]+)"/g);
    return [...blocks].map(([, type = ""]) => type).filter((type) => !types.has(type));
  });
  expect(shown).toContain("core/text");
  expect(shown.filter((type) => !known.has(type))).toEqual([]);
});

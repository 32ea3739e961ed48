import { expect, test } from "vitest";
import { kindOf, renderSchema } from "./render-schema.ts";

test.each([
  [{ type: "string", minLength: 1, maxLength: 256 }, "string, 1 to 256 characters"],
  [{ type: "string", minLength: 1 }, "string, not empty"],
  [{ type: "integer", minimum: 1, default: 50 }, "integer, at least 1, default 50"],
  [{ type: "array", items: { type: "string" }, maxItems: 50 }, "array of strings, at most 50 items"],
  [{ enum: ["json", "csv"], default: "json" }, "one of json, csv"],
  [{ anyOf: [{ const: "core/tag" }, { const: "core/image" }] }, "one of core/tag, core/image"],
  [{ anyOf: [{ type: "string" }, { type: "object" }] }, "string or object"],
  [{ const: true }, "true"],
  [{ type: ["string", "null"], format: "uuid" }, "string or null, uuid"],
  [{}, "anything"],
])("%j reads: %s", (schema, kind) => {
  expect(kindOf(schema)).toBe(kind);
});

test("the members of every alternative are listed, also when it is an array of objects", () => {
  const row = { type: "object", required: ["language"], properties: { language: { type: "string" } } };
  const html = renderSchema({
    anyOf: [
      { type: "array", items: row },
      { type: "object", properties: { phrases: { type: "string" } } },
    ],
  });
  expect(html).toContain('<code>language</code> <span class="kind">string, required</span>');
  expect(html.split('<p class="kind">or</p>')).toHaveLength(2);
  expect(html).toContain("<code>phrases</code>");
});

test("names and descriptions of members are escaped", () => {
  const html = renderSchema({ type: "object", properties: { "a<b": { type: "string", description: "<i>" } } });
  expect(html).toContain('<code>a&lt;b</code> <span class="kind">string</span> &lt;i&gt;');
});

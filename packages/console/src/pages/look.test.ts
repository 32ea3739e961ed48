import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const tokensOf = (css: string) =>
  Object.fromEntries(Array.from(css.matchAll(/^ {2}(--[\w-]+): (.+);$/gm), ([, name, value]) => [name ?? "", value]));

test("every CSS variable of the API reference has the value that it has in the console", () => {
  const own = tokensOf(read("look/console.css"));
  const docs = tokensOf(read("../../../../services/gateway/src/api-docs/page/docs.css"));
  expect(Object.keys(docs).length).toBeGreaterThan(8);
  for (const [name, value] of Object.entries(docs)) expect([name, value]).toEqual([name, own[name]]);
});

test("the script of the console has at most 8 KiB", () => {
  expect(Buffer.byteLength(read("look/console.js"))).toBeLessThanOrEqual(8_192);
});

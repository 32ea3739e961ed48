import { expect, test } from "vitest";
import { canonicalJson } from "../json/canonical-json.ts";
import type { JsonValue } from "../json/json-value.ts";
import { assembleDocument } from "./assemble-document.ts";

const documentId = "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10";
const value = {
  content: { é: [1, '"links":[]'] },
  links: [{ rel: "a", type: "b", uri: "c:ü" }],
  meta: { zeta: 1, Alpha: 2, status: "stale", tail: 3 },
  title: 'Zürich "1"',
};
const parts = {
  content: canonicalJson(value.content),
  links: canonicalJson(value.links),
  meta: canonicalJson(value.meta),
  title: canonicalJson(value.title),
};
const stamp = { documentId, type: "core/article", status: "usable", version: 7 };

function whole(more: { [member: string]: JsonValue }): JsonValue {
  return { ...value, id: documentId, type: "core/article", ...more };
}

test("a document joined from its parts is canonical JSON, with status and version stamped into meta", () => {
  const meta = { ...value.meta, status: "usable", version: 7 };
  expect(assembleDocument(parts, stamp).bytes).toEqual(canonicalJson(whole({ meta })));
  const updatedAt = new Date("2026-01-05T10:00:00.007Z");
  expect(assembleDocument(parts, { ...stamp, updatedAt }).bytes).toEqual(
    canonicalJson(whole({ meta, updated_at: "2026-01-05T10:00:00.007Z" })),
  );
});

test("cutting from linksStart to linksEnd leaves the canonical document without links", () => {
  const { bytes, linksStart, linksEnd } = assembleDocument(parts, stamp);
  const cut = Buffer.concat([bytes.subarray(0, linksStart), bytes.subarray(linksEnd)]);
  const { content, title } = value;
  const meta = { ...value.meta, status: "usable", version: 7 };
  expect(cut).toEqual(canonicalJson({ content, meta, title, id: documentId, type: "core/article" }));
});

import { expect, test } from "vitest";
import { sealSnapshot } from "./seal-snapshot.ts";

const parts = {
  content: Buffer.from('{"blocks":[],"body":"a\u2028b \u{1f600}","n":1e+21,"z":0}'),
  links: Buffer.from("[]"),
  meta: Buffer.from('{"language":"de","priority":0.1,"slug":"zurich-test"}'),
  title: Buffer.from('"Zürich \\"snapshot\\": test"'),
};
const stamp = {
  documentId: "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10",
  type: "core/article",
  version: 7,
  status: "usable",
  updatedAt: new Date("2026-11-21T09:30:00.000Z"),
  isFinal: false,
} as const;

test("a version is sealed to known canonical bytes and their known SHA-256 digest", () => {
  const { bytes, sha256 } = sealSnapshot(parts, stamp);
  expect(bytes.toString()).toBe(
    '{"content":{"blocks":[],"body":"a\u2028b \u{1f600}","n":1e+21,"z":0},"id":"7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10",' +
      '"links":[],"meta":{"language":"de","priority":0.1,"slug":"zurich-test","status":"usable","version":7},' +
      '"title":"Zürich \\"snapshot\\": test","type":"core/article","updated_at":"2026-11-21T09:30:00.000Z"}',
  );
  expect(Buffer.from(sha256).toString("hex")).toBe("ddd55007c629d64ca989ec7dc7afebea40b55522845db7bc6ef143ee163608a9");
});

test("a snapshot has meta.final only when it is the last one of its document", () => {
  const metaOf = (isFinal: boolean) => JSON.parse(sealSnapshot(parts, { ...stamp, isFinal }).bytes.toString()).meta;
  expect(metaOf(true)).toEqual({ ...metaOf(false), final: true });
  expect(metaOf(false)).not.toHaveProperty("final");
});

test("cutting from linksStart to linksEnd leaves all other members of a snapshot", () => {
  const links = Buffer.from('[{"id":"é","rel":"subject"}]');
  const { bytes, linksStart, linksEnd } = sealSnapshot({ ...parts, links }, stamp);
  const item = JSON.parse(Buffer.concat([bytes.subarray(0, linksStart), bytes.subarray(linksEnd)]).toString());
  const { links: _, ...rest } = JSON.parse(bytes.toString());
  expect(item).toEqual(rest);
});

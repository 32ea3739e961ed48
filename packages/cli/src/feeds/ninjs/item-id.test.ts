import { expect, test } from "vitest";
import { itemId } from "./item-id.ts";

const uri = "urn:newsml:wire.example:20260105:quake-1";

test("an id is the first 128 bits of SHA-256 over uri, line feed and version, made a version 4 UUID", () => {
  // The expected id was computed with Python's hashlib.
  expect(itemId(uri, { uri, version: "2" })).toBe("4bd299d8-31cd-4d7f-8d64-f6f888fbfc40");
});

test("a correction, which has a new version, gets another id", () => {
  expect(itemId(uri, { uri, version: "3" })).toBe("33d38337-86bc-43ca-a929-6b428df6d147");
});

test("a version sent as a number gives the same id as the same version sent as text", () => {
  expect(itemId(uri, { uri, version: 2 })).toBe(itemId(uri, { uri, version: "2" }));
});

test("the id of an item without a version follows from its content, not from the order of its members", () => {
  const headlines = [{ value: "Skjelv ved Tromsø" }];
  expect(itemId(uri, { uri, type: "text", headlines })).toBe("a245817d-326d-4eba-a2b0-34567c92fe61");
  expect(itemId(uri, { headlines, type: "text", uri })).toBe("a245817d-326d-4eba-a2b0-34567c92fe61");
  expect(itemId(uri, { uri, version: "", type: "text", headlines })).not.toBe("a245817d-326d-4eba-a2b0-34567c92fe61");
});

test("two items with the same uri, no version and different content get different ids", () => {
  expect(itemId(uri, { uri, by: "A" })).not.toBe(itemId(uri, { uri, by: "B" }));
});

test("content that has no canonical form is refused as damaged", () => {
  expect(() => itemId(uri, { uri, by: "\ud800" })).toThrow(
    expect.objectContaining({ name: "Refusal", unmappable: false }),
  );
});

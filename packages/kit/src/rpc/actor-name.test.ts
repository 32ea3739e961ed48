import { expect, test } from "vitest";
import { decodeActor, encodeActor, requireActorName } from "./actor-name.ts";

test.each([
  ["ida", "ida"],
  ["key:vk_abc", "key:vk_abc"],
  ["Jürgen Ångström", "J%C3%BCrgen%20%C3%85ngstr%C3%B6m"],
  ["100 %", "100%20%25"],
  ["編集者 🖋", "%E7%B7%A8%E9%9B%86%E8%80%85%20%F0%9F%96%8B"],
])("%j travels as %s", (actor, encoded) => {
  expect(encodeActor(actor)).toBe(encoded);
  expect(decodeActor(encoded)).toBe(actor);
});

test("256 characters are allowed, and a character may take several bytes", () => {
  expect(() => requireActorName(encodeActor("🖋".repeat(256)))).not.toThrow();
  expect(() => requireActorName(encodeActor("🖋".repeat(257)))).toThrow("at most 256 characters");
});

test.each(["100%", "%zz", "%ff", "J\u00fcrgen", "%00", "a%0Ab"])("%j is no name", (encoded) => {
  expect(() => requireActorName(encoded)).toThrow("metadata vidimus-actor must");
});

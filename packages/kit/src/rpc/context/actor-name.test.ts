import { expect, test } from "vitest";
import { decodeActor, encodeActor, requireActorName } from "./actor-name.ts";

test.each([
  ["ida", "ida"],
  ["key:vk_abc", "key:vk_abc"],
  ["Jürgen Ångström", "J%C3%BCrgen%20%C3%85ngstr%C3%B6m"],
  ["100 %", "100%20%25"],
  ["編集者 🖋", "%E7%B7%A8%E9%9B%86%E8%80%85%20%F0%9F%96%8B"],
])("the actor %j is encoded as %s, and decoded from that", (actor, encoded) => {
  expect(encodeActor(actor)).toBe(encoded);
  expect(decodeActor(encoded)).toBe(actor);
});

test("a name may have 256 characters of four bytes each, and no more", () => {
  expect(() => requireActorName(encodeActor("🖋".repeat(256)))).not.toThrow();
  expect(() => requireActorName(encodeActor("🖋".repeat(257)))).toThrow("at most 256 characters");
});

test.each([
  ["a zero width space", "ida\u200b"],
  ["a soft hyphen", "i\u00adda"],
  ["a right-to-left override", "\u202eadi"],
  ["a tag character", "ida\u{e0041}"],
  ["a character of private use", "ida\ue000"],
  ["an unassigned character", "ida\u{e0fff}"],
  ["a Hangul filler, which is a letter and shows nothing", "ida\u3164"],
  ["a variation selector, which is a mark and shows nothing", "ida\ufe0f"],
  ["a combining grapheme joiner", "i\u034fda"],
  ["a NUL character", "\u0000"],
  ["a line feed", "a\nb"],
])("%s in a name is refused", (_, actor) => {
  expect(() => requireActorName(encodeActor(actor))).toThrow("metadata vidimus-actor must");
});

test.each(["100%", "%zz", "%ff", "J\u00fcrgen"])("%j, which is not percent-encoded UTF-8, is refused", (encoded) => {
  expect(() => requireActorName(encoded)).toThrow("metadata vidimus-actor must be percent-encoded UTF-8");
});

import { expect, test } from "vitest";
import { assert, nat, pre, property, stringMatching } from "fast-check";
import { apiKeyPrefix, hashApiKey, mintApiKey } from "./api-key.ts";

const vector = "vk_UgNOkUySViro_0lHN9aNQcNkMik3qGrkAs65wpwIEtEVzLxagRnzIFKn4F3eyj";

test("the prefix of a key is the text between its underscores", () => {
  expect(apiKeyPrefix(vector)).toBe("UgNOkUySViro");
});

test("a key is hashed with plain SHA-256", () => {
  expect(hashApiKey(vector).toString("hex")).toBe("9bb110db6990cd6ec7ef70f19e9d973ec9ddd11941fc6b9744d539ac230ece6e");
});

test.each([
  "vk_UgNOkUySViro_0lHN9aNQcNkMik3qGrkAs65wpwIEtEVzLxagRnzIFKn4F3eyx",
  "vk-UgNOkUySViro_0lHN9aNQcNkMik3qGrkAs65wpwIEtEVzLxagRnzIFKn4F3eyj",
  "vk_UgNOkUySViro_0lHN9aNQcNkMik3qGrkAs65wpwIEtEVzLxagRnzIFKn4F3ey",
  `${vector}\n`,
  ` ${vector}`,
  "",
])("%j is no key", (text) => {
  expect(apiKeyPrefix(text)).toBeUndefined();
});

const minted = Array.from({ length: 500 }, () => mintApiKey());

test("500 minted keys are well formed", () => {
  for (const { key, prefix } of minted) expect(apiKeyPrefix(key)).toBe(prefix);
});

test("500 minted keys differ", () => {
  expect(new Set(minted.map(({ key }) => key)).size).toBe(500);
});

test("a key with one character changed is no key", () => {
  const character = stringMatching(/^[0-9A-Za-z]$/);
  assert(
    property(nat({ max: vector.length - 1 }), character, (at, replacement) => {
      pre(vector[at] !== replacement);
      expect(apiKeyPrefix(vector.slice(0, at) + replacement + vector.slice(at + 1))).toBeUndefined();
    }),
  );
});

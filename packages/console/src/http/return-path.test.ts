import { expect, test } from "vitest";
import { returnPath } from "./return-path.ts";

const origin = new URL("https://console.example");

test.each([
  ["/", "/"],
  ["/t/demo/keys?show=revoked", "/t/demo/keys?show=revoked"],
  ["/t/demo/../times", "/t/times"],
  ["/t/demo#end", "/t/demo"],
  ["/a//b", "/a//b"],
  ["/%2F/attacker.example", "/%2F/attacker.example"],
  ["/%5C%5Cattacker.example", "/%5C%5Cattacker.example"],
  ["/@attacker.example", "/@attacker.example"],
])("%j is a path to return to", (text, path) => {
  expect(returnPath(text, origin)).toBe(path);
  expect(new URL(path, origin).origin).toBe(origin.origin);
});

test.each([
  null,
  "",
  "//attacker.example",
  "//attacker.example/t/demo",
  "///attacker.example",
  "/.//attacker.example",
  "/./%2e//attacker.example",
  "/x/..//attacker.example",
  "/\\attacker.example",
  "\\\\attacker.example",
  "/.\\/attacker.example",
  "/\t/attacker.example",
  "/\n\\attacker.example",
  " //attacker.example",
  "//console.example@attacker.example",
  "//[",
  "https://attacker.example/",
  "https:attacker.example",
  "javascript:alert(1)",
  "attacker.example",
])("%j would lead to another host, or is no path: the person returns to the start", (text) => {
  expect(returnPath(text, origin)).toBe("/");
});

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
])("a sign-in with the return path %j leads to %j", (text, path) => {
  expect(returnPath(text, origin)).toBe(path);
  expect(new URL(path, origin).origin).toBe(origin.origin);
});

// Each of these would lead to another host, or is no path.
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
])('a sign-in with the return path %j leads to "/"', (text) => {
  expect(returnPath(text, origin)).toBe("/");
});

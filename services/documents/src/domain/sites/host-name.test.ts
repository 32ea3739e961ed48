import { expect, test } from "vitest";
import { normalHost } from "./host-name.ts";

test.each([
  ["www.example.com", "www.example.com"],
  ["WWW.Example.COM.", "www.example.com"],
  ["localhost:3000", "localhost"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["192.0.2.7:80", "192.0.2.7"],
  ["[2001:DB8::1]:8080", "[2001:db8::1]"],
])("the normal form of %s is %s", (text, normal) => {
  expect(normalHost(text)).toBe(normal);
  expect(normalHost(normal)).toBe(normal);
});

test.each([
  "",
  ".",
  "a..b",
  "https://example.com",
  "example.com/news",
  "user@example.com",
  "example .com",
  "example.com:http",
  "*.example.com?",
  "exa%6dple.com",
  "example.com\u0000",
  "2130706433",
  "0x7f.1",
  "::1",
])("%j is no host name", (text) => {
  expect(normalHost(text)).toBeUndefined();
});

test("a text of 254 characters is no host name", () => {
  expect(normalHost("a".repeat(254))).toBeUndefined();
});

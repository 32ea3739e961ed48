import { expect, test } from "vitest";
import { readTarget } from "./request-target.ts";

test.each([
  ["/v1/documents?type=a%2Fb", "/v1/documents?type=a%2Fb"],
  ["http://h.example/v1/documents?type=x", "/v1/documents?type=x"],
  ["HTTPS://user@[::1]:8443/", "/"],
  ["http://h.example", "/"],
  ["http://h.example?type=x", "/?type=x"],
  ["//h.example/x", "//h.example/x"],
  ["/x?u=http://h.example/%zz", "/x?u=http://h.example/%zz"],
  ["/x#%zz", "/x#%zz"],
  ["*", "/*"],
])("the request target %s is read as %s", (target, path) => {
  expect(readTarget(target)).toBe(path);
});

test.each([
  "",
  "/%",
  "/%zz",
  "/%ff",
  "/a%c3?x",
  "http:///x",
  "ftp://h.example/x",
  "h.example:443",
  "http://h.example/%zz",
])("the request target %j cannot be routed", (target) => {
  expect(readTarget(target)).toBeUndefined();
});

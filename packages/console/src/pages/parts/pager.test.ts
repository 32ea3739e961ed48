import { expect, test } from "vitest";
import { caption, pager, positionOf } from "./pager.ts";

test("a caption says how many rows there are, or which of them the page shows", () => {
  const whole = { pageToken: "", from: 1, nextPageToken: "" };
  expect(caption({ ...whole, count: 1 }, "key", "keys")).toBe("1 key");
  expect(caption({ ...whole, count: 5 }, "key", "keys", "newest first")).toBe("5 keys, newest first");
  expect(caption({ ...whole, count: 50, nextPageToken: "t" }, "key", "keys")).toBe("Keys 1 to 50; there are more");
  expect(caption({ ...whole, from: 51, count: 7 }, "key", "keys")).toBe("Keys 51 to 57");
});

/** The links of the page with the rows 51 to 100 of a list with a filter. */
function linksOfSecondPage() {
  const url = new URL("http://c.example/t/demo/audit?actor=a%26b&page=old&from=51&done=revoked");
  const markup = pager(url, { ...positionOf(url.searchParams), count: 50, nextPageToken: "n+x/=" })?.toString() ?? "";
  const unescaped = markup.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
  const [first = "", next = ""] = Array.from(unescaped.matchAll(/href="([^"]+)"/g), ([, path]) => path);
  return { first, next: new URL(next, url).searchParams };
}

test("the links to the first and to the next page keep the filter of the query", () => {
  const { first, next } = linksOfSecondPage();
  expect([first, next.get("actor"), next.has("done")]).toEqual(["/t/demo/audit?actor=a%26b", "a&b", false]);
});

test("the link to the next page states the position from which that page reads", () => {
  expect(positionOf(linksOfSecondPage().next)).toEqual({ pageToken: "n+x/=", from: 101 });
});

test("a list with one page has no links", () => {
  expect(pager(new URL("http://c.example/"), { pageToken: "", from: 1, count: 3, nextPageToken: "" })).toBeUndefined();
});

test("a page token of over 2,048 characters leads to the first page", () => {
  const query = (length: number) => new URLSearchParams({ page: "x".repeat(length), from: "51" });
  expect(positionOf(query(2_048))).toEqual({ pageToken: "x".repeat(2_048), from: 51 });
  expect(positionOf(query(2_049))).toEqual({ pageToken: "", from: 1 });
});

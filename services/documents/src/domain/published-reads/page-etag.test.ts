import { expect, test } from "vitest";
import { matchesEtag, pageEtag } from "./page-etag.ts";

const etag = pageEtag(new Date(1_795_253_400_123), ["core/article", null, 50, ""]);

test("the tag changes with the stamp and with the query", () => {
  const tags = [
    etag,
    pageEtag(new Date(1_795_253_400_124), ["core/article", null, 50, ""]),
    pageEtag(new Date(1_795_253_400_123), ["core/article", null, 51, ""]),
    pageEtag(undefined, ["core/article", null, 50, ""]),
  ];
  expect(new Set(tags).size).toBe(4);
});

test.each([
  [etag, true],
  [etag.slice(2), true],
  [`"x", ${etag}`, true],
  ["*", true],
  ["", false],
  ['W/"x"', false],
  [etag.slice(0, -2), false],
])("If-None-Match: %s matches: %j", (header, matches) => {
  expect(matchesEtag(header, etag)).toBe(matches);
});

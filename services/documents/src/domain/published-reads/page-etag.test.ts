import { expect, test } from "vitest";
import { newestStamp, pageEtag } from "./page-etag.ts";

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

test("the newest stamp is read from those tags of a header that belong to the page", () => {
  const query = ["core/article", null, 50, ""];
  const at = (ms: number, own = query) => pageEtag(new Date(ms), own);
  expect(newestStamp(`${at(7)}, ${at(9).slice(2)}, ${at(8)}`, query)).toEqual(new Date(9));
  expect(newestStamp(`${at(7)}, ${at(9, ["core/image"])}`, query)).toEqual(new Date(7));
  const unreadable = `W/"zzzzzzzzzzzz${at(1).slice(at(1).indexOf("."))}`;
  for (const field of ["", "*", '"x"', at(9, ["core/image"]), unreadable])
    expect(newestStamp(field, query)).toBeUndefined();
});

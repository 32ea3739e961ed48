import { expect, test } from "vitest";
import { chooseEncoding } from "./choose-encoding.ts";

test.each([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br", "br"],
  ["GZIP, BR", "br"],
  ["br;q=0.5, gzip;q=0.8", "gzip"],
  ["br; q=0, gzip", "gzip"],
  ["gzip;q=0.5, identity;q=0.2", "gzip"],
  ["*", "br"],
  ["br;q=0, *", "gzip"],
])("Accept-Encoding %j gets %s, also from the cache", (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding);
  expect(chooseEncoding(header)).toBe(encoding);
});

test.each(["", "identity", "deflate, zstd", "br;q=0, gzip;q=0", "gzip;q=0.5, identity", "*;q=0", "gzip;q=none"])(
  "Accept-Encoding %j gets no encoding, also from the cache",
  (header) => {
    expect(chooseEncoding(header)).toBeUndefined();
    expect(chooseEncoding(header)).toBeUndefined();
  },
);

test.each([
  ["a request without Accept-Encoding", undefined],
  ["an Accept-Encoding of more than 256 characters", `gzip${", gzip".repeat(100)}`],
])("%s gets no encoding", (_, header) => {
  expect(chooseEncoding(header)).toBeUndefined();
});

import { expect, test } from "vitest";
import { chooseEncoding } from "./choose-encoding.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["deflate, zstd", undefined],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br", "br"],
  ["GZIP, BR", "br"],
  ["br;q=0.5, gzip;q=0.8", "gzip"],
  ["br; q=0, gzip", "gzip"],
  ["br;q=0, gzip;q=0", undefined],
  ["gzip;q=0.5, identity", undefined],
  ["gzip;q=0.5, identity;q=0.2", "gzip"],
  ["*", "br"],
  ["*;q=0", undefined],
  ["br;q=0, *", "gzip"],
  ["gzip;q=none", undefined],
  [`gzip${", gzip".repeat(100)}`, undefined],
])("Accept-Encoding %j gets %s", (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding);
  expect(chooseEncoding(header)).toBe(encoding);
});

import { expect, test } from "vitest";
import { kindOf } from "./crawl-pages.ts";

test.for([
  ["/t/demo/phrases/01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77/delete", "/t/demo/phrases/:id/delete"],
  ["/t/demo/phrases/import", "/t/demo/phrases/import"],
  ["/t/demo/trust-list/verify", "/t/demo/trust-list/verify"],
  ["/t/demo/members/person%3A0f6ac51452484d4f671082cecc54af2b", "/t/demo/members/:id"],
  ["/t/demo/keys/XIHOsmwOrak8", "/t/demo/keys/:id"],
  ["/t/demo/keys/XIHOsmwOrakQ/roll", "/t/demo/keys/:id/roll"],
  ["/t/demo/deliveries/snp_0f6ac51452484d4f671082cecc54af2b_12", "/t/demo/deliveries/:id"],
  ["/t/demo/replays?endpoint=01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77", "/t/demo/replays?endpoint"],
  ["/t/demo/keys?state=all&page=x&state=", "/t/demo/keys?page&state"],
])("%s has the kind %s", ([path, kind]) => {
  expect(kindOf(new URL(path!, "http://127.0.0.1"))).toBe(kind);
});

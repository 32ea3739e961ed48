import { expect, test } from "vitest";
import { type ClaimingSite, hostFaults, checkSites, type SiteClaim } from "./site-claims.ts";

const claim = (documentId: string, hosts: string[], isPrimary = false): SiteClaim => ({ documentId, hosts, isPrimary });
const claiming = (...args: Parameters<typeof claim>): ClaimingSite => ({ claim: claim(...args), hosts: args[1] });

test("a host of another published site is refused, and the fault names that site", () => {
  const faults = checkSites([claim("a", ["x.example"])], new Set(["b"]), [claiming("b", ["y.example", "x.example"])]);
  expect([...faults]).toEqual([
    ["b", [{ pointer: "/meta/hosts/1", message: "is x.example, a host of published site a" }]],
  ]);
});

test("a second primary site is refused", () => {
  const faults = checkSites([claim("a", [], true)], new Set(["b"]), [claiming("b", ["y.example"], true)]);
  expect(faults.get("b")).toEqual([{ pointer: "/meta/primary", message: "published site a is the primary one" }]);
});

test("a host that a site loses in a batch is free for the batch's other sites, whatever their order", () => {
  const standing = [claim("a", ["x.example"], true), claim("b", ["y.example"])];
  expect(checkSites(standing, new Set(["a", "c"]), [claiming("c", ["x.example"], true)])).toEqual(new Map());
  const swapped = [claiming("b", ["x.example"], true), claiming("a", ["y.example"])];
  for (const sites of [swapped, swapped.toReversed()]) {
    expect(checkSites(standing, new Set(["a", "b"]), sites)).toEqual(new Map());
  }
});

test("of two sites of a batch with conflicting claims, only the second is refused", () => {
  const sites = [claiming("a", ["x.example"], true), claiming("b", ["x.example"], true)];
  expect([...checkSites([], new Set(["a", "b"]), sites)]).toEqual([
    [
      "b",
      [
        { pointer: "/meta/hosts/0", message: "is x.example, a host of published site a" },
        { pointer: "/meta/primary", message: "published site a is the primary one" },
      ],
    ],
  ]);
});

test("a site may be published again with its own host", () => {
  expect(checkSites([claim("a", ["x.example"], true)], new Set(["a"]), [claiming("a", ["x.example"], true)])).toEqual(
    new Map(),
  );
});

test("a malformed host is a fault of a site, and not of an article", () => {
  const meta = { hosts: ["x.example", "https://y.example", 7] };
  expect(hostFaults("core/publisher-site", meta).map(({ pointer }) => pointer)).toEqual([
    "/meta/hosts/1",
    "/meta/hosts/2",
  ]);
  expect(hostFaults("core/article", meta)).toEqual([]);
});

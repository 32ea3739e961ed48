import { randomBytes } from "node:crypto";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { EncodedCopies } from "./encoded-copies.ts";

/** Noise, so that no two copies are equal by chance. */
const page = (bytes = 2_000) => [Buffer.from("["), randomBytes(bytes), Buffer.from("]")];
const again = (pieces: Buffer[]) => pieces.map((piece) => Buffer.from(piece));
const acme = { tenantId: "acme", name: "newest" };

test("readers of the same bytes get one copy for each encoding, also when they ask concurrently", async () => {
  const copies = new EncodedCopies(1_000_000);
  const pieces = page();
  const [first, second] = await Promise.all([copies.get(acme, pieces, "br"), copies.get(acme, again(pieces), "br")]);
  expect(second).toBe(first);
  const gzipped = await copies.get(acme, again(pieces), "gzip");
  expect(await copies.get(acme, again(pieces), "br")).toBe(first);
  expect(await copies.get(acme, again(pieces), "gzip")).toBe(gzipped);
  expect([brotliDecompressSync(first), gunzipSync(gzipped)]).toEqual([Buffer.concat(pieces), Buffer.concat(pieces)]);
});

test("a page that differs by one byte from the cached one is compressed anew", async () => {
  const copies = new EncodedCopies(1_000_000);
  const pieces = page();
  await copies.get(acme, pieces, "gzip");
  const changed = again(pieces);
  changed[1]![1_000]! ^= 1;
  expect(gunzipSync(await copies.get(acme, changed, "gzip"))).toEqual(Buffer.concat(changed));
  expect(gunzipSync(await copies.get(acme, pieces, "gzip"))).toEqual(Buffer.concat(pieces));
});

test("every tenant and every name of an answer has a copy of its own", async () => {
  const copies = new EncodedCopies(1_000_000);
  const pieces = page();
  const all = [acme, { ...acme, tenantId: "rival" }, { ...acme, name: "second" }];
  const buffers = await Promise.all(all.map((shared) => copies.get(shared, pieces, "br")));
  expect(new Set(buffers).size).toBe(3);
});

test("a copy larger than a tenant's half of the memory is not kept", async () => {
  const copies = new EncodedCopies(10_000);
  const pieces = page(3_000);
  expect(await copies.get(acme, pieces, "br")).not.toBe(await copies.get(acme, pieces, "br"));
});

import { randomBytes } from "node:crypto";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { EncodedCopies } from "./encoded-copies.ts";

/** Noise, so that no two copies are equal by chance. */
const page = (bytes = 2_000) => [Buffer.from("["), randomBytes(bytes), Buffer.from("]")];
const again = (pieces: Buffer[]) => pieces.map((piece) => Buffer.from(piece));
const acme = { tenantId: "acme", name: "newest" };

test("readers of the same bytes get one copy for each encoding, those who ask at once too", async () => {
  const copies = new EncodedCopies(1_000_000);
  const pieces = page();
  const [first, second] = await Promise.all([copies.get(acme, pieces, "br"), copies.get(acme, again(pieces), "br")]);
  expect(second).toBe(first);
  const gzipped = await copies.get(acme, again(pieces), "gzip");
  expect(await copies.get(acme, again(pieces), "br")).toBe(first);
  expect([brotliDecompressSync(first), gunzipSync(gzipped)]).toEqual([Buffer.concat(pieces), Buffer.concat(pieces)]);
});

test("a page that changed is compressed anew, even by one byte, and is never mixed up with the old one", async () => {
  const copies = new EncodedCopies(1_000_000);
  const pieces = page();
  await copies.get(acme, pieces, "gzip");
  const changed = again(pieces);
  changed[1]![1_000]! ^= 1;
  expect(gunzipSync(await copies.get(acme, changed, "gzip"))).toEqual(Buffer.concat(changed));
  expect(gunzipSync(await copies.get(acme, pieces, "gzip"))).toEqual(Buffer.concat(pieces));
});

test("tenants and questions have copies of their own", async () => {
  const copies = new EncodedCopies(1_000_000);
  const pieces = page();
  const all = [acme, { ...acme, tenantId: "rival" }, { ...acme, name: "second" }];
  const buffers = await Promise.all(all.map((shared) => copies.get(shared, pieces, "br")));
  expect(new Set(buffers).size).toBe(3);
});

test("a tenant keeps half of the space at most, its last used copies, and drops none of another's", async () => {
  const copies = new EncodedCopies(40_000);
  const pages = Array.from({ length: 8 }, () => page());
  const get = (tenantId: string, at: number) => copies.get({ tenantId, name: String(at) }, pages[at]!, "gzip");
  const other = await get("rival", 0);
  const first = await get("acme", 0);
  const second = await get("acme", 1);
  for (const at of [2, 3]) await get("acme", at);
  expect(await get("acme", 0)).toBe(first);
  // Each counts 4,004 bytes: the fifth one of the tenant drops the one used longest ago.
  await get("acme", 4);
  expect(await get("acme", 0)).toBe(first);
  expect(await get("acme", 1)).not.toBe(second);
  for (const at of [5, 6, 7]) await get("acme", at);
  expect(await get("rival", 0)).toBe(other);
});

test("when all space is taken, the tenant with the most makes room", async () => {
  const copies = new EncodedCopies(40_000);
  const pages = Array.from({ length: 4 }, () => page());
  const get = (tenantId: string, at: number) => copies.get({ tenantId, name: String(at) }, pages[at]!, "gzip");
  const kept = await get("small", 0);
  const dropped = await get("large", 0);
  for (const at of [1, 2, 3]) await get("large", at);
  for (const at of [0, 1, 2]) await get("middle", at);
  await get("small", 1);
  await get("small", 2);
  expect(await get("small", 0)).toBe(kept);
  expect(await get("large", 0)).not.toBe(dropped);
});

test("a copy larger than a tenant's part is not kept", async () => {
  const copies = new EncodedCopies(10_000);
  const pieces = page(5_000);
  expect(await copies.get(acme, pieces, "br")).not.toBe(await copies.get(acme, pieces, "br"));
});

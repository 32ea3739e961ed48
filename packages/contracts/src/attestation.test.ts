import { createHash, createSecretKey } from "node:crypto";
import { expect, test } from "vitest";
import { type AttestedSnapshot, attestationOf } from "./attestation.ts";

const key = createSecretKey(Buffer.alloc(32, 1));
const snapshot: AttestedSnapshot = {
  tenantId: "demo",
  documentId: "01890000-0000-4000-8000-00000000beef",
  sequence: 12,
  version: 7,
  status: "usable",
  sha256: createHash("sha256").update("{}").digest(),
};

test("an attestation is the HMAC-SHA256 of a label, tenant, document, sequence, version, status and digest", () => {
  // printf 'vidimus-attestation-v1\ndemo\n01890000-…\n12\n7\nusable\n44136fa3…' |
  //   openssl dgst -sha256 -mac HMAC -macopt hexkey:0101…
  expect(attestationOf(key, snapshot).toString("hex")).toBe(
    "a6d39bf6b00444cc2b438cff75a30641bcfeb5d21407430cd801656423624560",
  );
});

test.each<[string, Partial<AttestedSnapshot>]>([
  ["tenant", { tenantId: "rival" }],
  ["document", { documentId: "01890000-0000-4000-8000-00000000beee" }],
  ["sequence", { sequence: 13 }],
  ["version", { version: 8 }],
  ["status", { status: "withheld" }],
  ["digest", { sha256: Buffer.alloc(32) }],
])("another %s gives another attestation", (_, change) => {
  expect(attestationOf(key, { ...snapshot, ...change })).not.toEqual(attestationOf(key, snapshot));
});

test("another key gives another attestation", () => {
  const other = createSecretKey(Buffer.alloc(32, 2));
  expect(attestationOf(other, snapshot)).not.toEqual(attestationOf(key, snapshot));
});

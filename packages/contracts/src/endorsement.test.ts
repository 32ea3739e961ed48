import { createSecretKey } from "node:crypto";
import { expect, test } from "vitest";
import { type EndorsedSignature, endorsementOf } from "./endorsement.ts";

const key = createSecretKey(Buffer.alloc(32, 1));
const signature: EndorsedSignature = {
  statement: "vidimus-snapshot-v1\ndemo",
  value: Buffer.alloc(64, 7),
  signingNumber: 1,
};

test("an endorsement is the HMAC-SHA256 of a label, the signing number, the value and the statement", () => {
  // printf 'vidimus-endorsement-v1\n1\nBwcH…\nvidimus-snapshot-v1\ndemo' |
  //   openssl dgst -sha256 -mac HMAC -macopt hexkey:0101…
  expect(endorsementOf(key, signature).toString("hex")).toBe(
    "5e04a41ecf5620ee0ed1bdc45a3ba401ee3719388b3b1bd8a52ec475aa9579af",
  );
});

test.each<[string, Partial<EndorsedSignature>]>([
  ["statement", { statement: "vidimus-snapshot-v1\nrival" }],
  ["value", { value: Buffer.alloc(64, 8) }],
  ["signing number", { signingNumber: 2 }],
])("another %s gives another endorsement", (_, change) => {
  expect(endorsementOf(key, { ...signature, ...change })).not.toEqual(endorsementOf(key, signature));
});

test("another key gives another endorsement", () => {
  const other = createSecretKey(Buffer.alloc(32, 2));
  expect(endorsementOf(other, signature)).not.toEqual(endorsementOf(key, signature));
});

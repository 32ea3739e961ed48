import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { GetSnapshotsResponseSchema } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { SignSnapshotsResponseSchema } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Payload, Reference } from "../domain/payload.ts";
import { FreshTenants } from "./fresh-tenants.ts";
import { createPayloadCache } from "./payload-cache.ts";

const bytes = Buffer.from("{}");
const sha256 = createHash("sha256").update(bytes).digest();
const mebibyte = 1024 * 1024;

const referenceOf = (sequence: number): Reference => ({ tenantId: "acme", documentId: "d", sequence });

/** A cache over documents and signing that have everything, and the sequences of each call. */
function open() {
  const pulled: number[][] = [];
  const signed: number[][] = [];
  const cache = createPayloadCache(
    {
      feed: {
        getSnapshots: async ({ references = [] }) => {
          pulled.push(references.map(({ sequence }) => Number(sequence)));
          const committedAt = timestampFromDate(new Date());
          const snapshots = references.map((reference) => {
            return { reference, committedAt, documentType: "core/article", snapshotJson: bytes, sha256 };
          });
          return create(GetSnapshotsResponseSchema, { snapshots });
        },
      },
      signing: {
        signSnapshots: async ({ items = [] }) => {
          signed.push(items.map(({ sequence }) => Number(sequence)));
          const value = { keyId: "k", statement: "s", value: Buffer.alloc(64) };
          const results = items.map(() => ({ outcome: { case: "signature" as const, value } }));
          return create(SignSnapshotsResponseSchema, { results });
        },
      },
      isListed: () => true,
    },
    new FreshTenants(),
    new AbortController().signal,
  );
  return { cache, pulled, signed };
}

/** The snapshots whose payloads a tenant with a backlog asks for at once. */
const backlogOf = (tenantId: string) =>
  Array.from({ length: 40 }, (_, at): Reference => ({ tenantId, documentId: "owed", sequence: at + 1 }));

const payloadOf = (bodyBytes: number): Payload => {
  const names = { webhookId: "snp", signingNumber: 1, event: "snapshot.usable", keyId: "k" };
  return { ...names, committedAt: new Date(), body: Buffer.alloc(bodyBytes) };
};

describe("a payload that is not in memory", () => {
  it("is made with the payloads that come next, in one call to documents and one to signing", async () => {
    const { cache, pulled, signed } = open();
    cache.put({ reference: referenceOf(2), payload: payloadOf(10), uses: 1 });
    const next = Array.from({ length: 100 }, (_, at) => referenceOf(at + 1));
    expect(await cache.get(referenceOf(1), next)).toMatchObject({ event: "snapshot." });
    for (const each of next.slice(0, 63)) expect(await cache.get(each)).toBeDefined();
    expect(pulled).toHaveLength(1);
    expect(pulled[0]!.toSorted((a, b) => a - b)).toEqual([1, ...Array.from({ length: 61 }, (_, at) => at + 3)]);
    expect(signed).toEqual(pulled);
  });

  it("is made once, however many callers ask", async () => {
    const { cache, pulled } = open();
    cache.prefetch([referenceOf(1), referenceOf(2)]);
    await Promise.all([cache.get(referenceOf(1)), cache.get(referenceOf(2)), cache.get(referenceOf(1))]);
    expect(pulled).toEqual([[1, 2]]);
  });
});

it("a backlog's payloads are made 8 at a time while another tenant has just published", async () => {
  const { cache, pulled } = open();
  cache.put({ reference: referenceOf(1), payload: payloadOf(10), uses: 1 });
  await Promise.all(backlogOf("owed").map((each) => cache.get(each)));
  expect(pulled.map(({ length }) => length)).toEqual([8, 8, 8, 8, 8]);
});

it("a backlog's payloads are made in one batch although its own tenant has just published", async () => {
  const { cache, pulled } = open();
  cache.put({ reference: referenceOf(1), payload: payloadOf(10), uses: 1 });
  await Promise.all(backlogOf("acme").map((each) => cache.get(each)));
  expect(pulled.map(({ length }) => length)).toEqual([40]);
});

it("drops the payload that came first when memory is full, even if it was used since", async () => {
  const { cache, pulled } = open();
  for (let sequence = 1; sequence <= 39; sequence++) {
    cache.put({ reference: referenceOf(sequence), payload: payloadOf(mebibyte), uses: 1 });
    await cache.get(referenceOf(1));
  }
  cache.put({ reference: referenceOf(40), payload: payloadOf(mebibyte), uses: 1 });
  await cache.get(referenceOf(2));
  expect(pulled).toEqual([]);
  await cache.get(referenceOf(1));
  expect(pulled).toEqual([[1]]);
});

it("keeps a payload until as many of its deliveries have ended as were stored", async () => {
  const { cache, pulled } = open();
  cache.put({ reference: referenceOf(1), payload: payloadOf(10), uses: 2 });
  cache.noteEnded(referenceOf(1));
  await cache.get(referenceOf(1));
  expect(pulled).toEqual([]);
  cache.noteEnded(referenceOf(1));
  await cache.get(referenceOf(1));
  expect(pulled).toEqual([[1]]);
});

it("tells the mean size of the last bodies, also of those that it has dropped", async () => {
  const { cache } = open();
  for (let sequence = 1; sequence <= 40; sequence++) {
    cache.put({ reference: referenceOf(sequence), payload: payloadOf(mebibyte), uses: 1 });
    cache.noteEnded(referenceOf(sequence));
  }
  expect(cache.meanBytes()).toBe(mebibyte);
  await cache.get(referenceOf(1));
  expect(Math.round(cache.meanBytes() / mebibyte)).toBe(1);
  expect(cache.meanBytes()).toBeLessThan(mebibyte);
});

it("keeps a payload that was made again, even after a delivery: other endpoints may ask for it", async () => {
  const { cache, pulled } = open();
  await cache.get(referenceOf(1));
  cache.noteEnded(referenceOf(1));
  await cache.get(referenceOf(1));
  expect(pulled).toEqual([[1]]);
});

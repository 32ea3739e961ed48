import { create, toBinary } from "@bufbuild/protobuf";
import { SnapshotReferencesSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { DomainError } from "@vidimus/kit/errors";
import { describe, expect, it } from "vitest";
import { parseReferences } from "./references.ts";

describe("a message about snapshots", () => {
  const sound = { tenantId: "acme", documentId: "01890000-0000-7000-8000-00000000beef", sequence: 7n };
  const parseAll = (references: (typeof sound & { type?: string })[]) =>
    parseReferences(toBinary(SnapshotReferencesSchema, create(SnapshotReferencesSchema, { references })));
  const parse = (change: Partial<typeof sound & { type: string }>) => parseAll([sound, { ...sound, ...change }]);

  it("is read with sequences up to 2^53 - 1", () => {
    expect(parse({ sequence: 2n ** 53n - 1n })).toEqual([
      { ...sound, sequence: 7 },
      { ...sound, sequence: Number.MAX_SAFE_INTEGER },
    ]);
  });

  it.each([
    ["no reference", 0],
    ["65 references, more than a transaction may have snapshots", 65],
  ])("is refused with %s", (_, count) => {
    expect(() => parseAll(Array.from({ length: count }, () => sound))).toThrow(DomainError);
  });

  it.each([
    ["sequence 0", { sequence: 0n }],
    ["a sequence beyond 2^53 - 1", { sequence: 2n ** 53n }],
    ["no tenant", { tenantId: "" }],
    ["a tenant id of 33 characters", { tenantId: "a".repeat(33) }],
    ["an operator of MongoDB for a tenant id", { tenantId: "$ne" }],
    ["a document id that is no UUID", { documentId: "ferry" }],
    ["a document id in capitals", { documentId: sound.documentId.toUpperCase() }],
    ["a document id of 500,000 characters", { documentId: "a".repeat(500_000) }],
  ])("is refused with %s", (_, change) => {
    expect(() => parse(change)).toThrow(DomainError);
  });

  it("is read with 64 references of the longest tenant id, sequence and type name", () => {
    const type = `${"a".repeat(32)}/${"b".repeat(64)}`;
    const longest = { ...sound, tenantId: "a".repeat(32), sequence: 2n ** 53n - 1n, type };
    expect(parseAll(Array.from({ length: 64 }, () => longest))).toHaveLength(64);
  });

  it("is refused when its bytes are no references", () => {
    expect(() => parseReferences(Buffer.from("hello"))).toThrow();
  });
});

import { create, toBinary } from "@bufbuild/protobuf";
import { SnapshotReferencesSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { DomainError } from "@vidimus/kit/errors";
import { describe, expect, it } from "vitest";
import { webhookIdOf } from "../domain/payload.ts";
import { parseReferences, withPredecessors } from "./references.ts";

const ref = (documentId: string, sequence: number) => ({ tenantId: "acme", documentId, sequence });

async function expand(asked: ReturnType<typeof ref>[], stored: ReturnType<typeof ref>[]): Promise<string[]> {
  const known = new Set(stored.map(webhookIdOf));
  const found = await withPredecessors(asked, async (ids) => new Set(ids.filter((id) => known.has(id))));
  return found.map(({ documentId, sequence }) => `${documentId}${sequence}`);
}

describe("references to ingest", () => {
  it("are sorted older before newer, each once", async () => {
    expect(await expand([ref("a", 2), ref("b", 1), ref("a", 1), ref("a", 2)], [])).toEqual(["b1", "a1", "a2"]);
  });

  it("include the older ones that are not stored, back to the newest stored one", async () => {
    expect(await expand([ref("a", 6), ref("b", 9)], [ref("a", 2), ref("b", 8)])).toEqual([
      "a3",
      "a4",
      "a5",
      "a6",
      "b9",
    ]);
  });

  it("include no older ones when the one before is stored", async () => {
    expect(await expand([ref("a", 6)], [ref("a", 5)])).toEqual(["a6"]);
  });

  it("leave out only those with more unknown predecessors than the bound", async () => {
    const forged = [ref("a", Number.MAX_SAFE_INTEGER), ref("b", 1_000_000)];
    expect(await expand([...forged, ref("a", 3), ref("c", 1)], [ref("a", 2)])).toEqual(["c1", "a3"]);
    expect(await expand([ref("a", 300)], [ref("a", 45)])).toHaveLength(255);
  });
});

describe("a message about snapshots", () => {
  const sound = { tenantId: "acme", documentId: "01890000-0000-7000-8000-00000000beef", sequence: 7n };
  const parseAll = (references: (typeof sound & { type?: string })[]) =>
    parseReferences(toBinary(SnapshotReferencesSchema, create(SnapshotReferencesSchema, { references })));
  const parse = (change: Partial<typeof sound & { type: string }>) => parseAll([sound, { ...sound, ...change }]);

  it("is read", () => {
    expect(parse({ sequence: 2n ** 53n - 1n })).toEqual([
      { ...sound, sequence: 7 },
      { ...sound, sequence: Number.MAX_SAFE_INTEGER },
    ]);
  });

  it.each([
    ["none", 0],
    ["more than a transaction has", 65],
  ])("is refused with %s", (_, count) => {
    expect(() => parseAll(Array.from({ length: count }, () => sound))).toThrow(DomainError);
  });

  it.each([
    ["sequence 0", { sequence: 0n }],
    ["a sequence beyond 2^53 - 1", { sequence: 2n ** 53n }],
    ["no tenant", { tenantId: "" }],
    ["a tenant id of 33 characters", { tenantId: "a".repeat(33) }],
    ["an operator for a tenant id", { tenantId: "$ne" }],
    ["a document id that is no UUID", { documentId: "ferry" }],
    ["a document id in capitals", { documentId: sound.documentId.toUpperCase() }],
    ["an endless document id", { documentId: "a".repeat(500_000) }],
  ])("is refused with %s", (_, change) => {
    expect(() => parse(change)).toThrow(DomainError);
  });

  it("is read with 64 of the longest tenant ids, sequences and type names", () => {
    const type = `${"a".repeat(32)}/${"b".repeat(64)}`;
    const longest = { ...sound, tenantId: "a".repeat(32), sequence: 2n ** 53n - 1n, type };
    expect(parseAll(Array.from({ length: 64 }, () => longest))).toHaveLength(64);
  });

  it("is refused when it is something else", () => {
    expect(() => parseReferences(Buffer.from("hello"))).toThrow();
  });
});

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  BatchGetPublishedDocumentsResponseSchema,
  type GetPublishedDocumentRequestSchema,
  GetPublishedSiteResponseSchema,
  ListPublishedChangesResponseSchema,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { describe, expect, it, vi } from "vitest";
import { batchReads } from "./published-reads.ts";

type Item = MessageInitShape<typeof GetPublishedDocumentRequestSchema>;

/** A documents service that answers at most `fits` items at once. */
function documents(fits: number) {
  const batches: number[] = [];
  const unused = () => Promise.reject(new Error("not asked here"));
  const reads = batchReads({
    batchGetPublishedDocuments: async ({ items = [] }) => {
      batches.push(items.length);
      const results = items.slice(0, fits).map(({ by }: Item) => ({
        outcome:
          by?.value === "gone"
            ? { case: "error" as const, value: { kind: "gone", message: "was withdrawn" } }
            : { case: "found" as const, value: { etag: typeof by?.value === "string" ? by.value : "" } },
      }));
      return create(BatchGetPublishedDocumentsResponseSchema, { results });
    },
    revalidatePublishedPages: unused,
    listPublishedDocuments: unused,
    listPublishedChanges: unused,
    getPublishedSite: unused,
  });
  return { reads, batches };
}

const byId = (value: string): Item => ({ tenantId: "demo", by: { case: "documentId", value } });

describe("reads that come together", () => {
  it("go out in one call that brings each its own answer", async () => {
    const { reads, batches } = documents(64);
    const answers = await Promise.allSettled(["a", "gone", "b"].map((id) => reads.getPublishedDocument(byId(id))));
    expect(batches).toEqual([3]);
    expect(answers.map((answer) => (answer.status === "fulfilled" ? answer.value.etag : answer.reason.kind))).toEqual([
      "a",
      "gone",
      "b",
    ]);
  });

  it("go out again, without those already answered, when one answer did not hold them all", async () => {
    const { reads, batches } = documents(2);
    const ids = ["a", "b", "c", "d", "e"];
    const answers = await Promise.all(ids.map((id) => reads.getPublishedDocument(byId(id))));
    expect(answers.map(({ etag }) => etag)).toEqual(ids);
    expect(batches).toEqual([5, 3, 1]);
  });

  it("go out by tenant: a read does not wait for another tenant's call", async () => {
    const { reads, batches } = documents(1);
    const ids = ["a", "b", "c"];
    const done: string[] = [];
    const note = (name: string) => () => done.push(name);
    const heavy = ids.map((id) => reads.getPublishedDocument(byId(id)).then(note(id)));
    const other = reads.getPublishedDocument({ ...byId("r"), tenantId: "rival" }).then(note("r"));
    await Promise.resolve();
    expect([batches, done]).toEqual([[3, 1], []]);
    await Promise.all([...heavy, other]);
    expect(done.indexOf("r")).toBeLessThan(2);
    expect(batches).toEqual([3, 1, 2, 1]);
  });

  it("by id do not share a call with reads by slug, nor with reads that include linked documents", async () => {
    const { reads, batches } = documents(64);
    const bySlug: Item = { tenantId: "demo", by: { case: "slug", value: { type: "core/tag", slug: "s" } } };
    const linked = Array.from({ length: 9 }, (_, n) => ({ ...byId(`linked ${n}`), includeLinks: true }));
    const all = [...linked, bySlug, bySlug, byId("a"), byId("b"), byId("c")];
    await Promise.all(all.map((each) => reads.getPublishedDocument(each)));
    expect(batches).toEqual([8, 2, 3, 1]);
  });
});

it("readers of the feed at one position share a call that begins after all of them asked", async () => {
  const asked: string[] = [];
  const gates: (() => void)[] = [];
  const unused = () => Promise.reject(new Error("not asked here"));
  const reads = batchReads({
    listPublishedChanges: async ({ tenantId, since, waitMs }) => {
      asked.push(`${tenantId} ${since} ${waitMs ?? 0}`);
      await new Promise<void>((resolve) => gates.push(resolve));
      return create(ListPublishedChangesResponseSchema, { since: `after call ${asked.length}` });
    },
    batchGetPublishedDocuments: unused,
    revalidatePublishedPages: unused,
    getPublishedSite: unused,
    listPublishedDocuments: unused,
  });
  const look = async (tenantId: string, since: string, waitMs = 0) =>
    (await reads.listPublishedChanges({ tenantId, since, type: "", limit: 50, waitMs })).since;
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  const early = [look("demo", "t1"), look("demo", "t1"), look("demo", "t2"), look("rival", "t1")];
  const waits = [look("demo", "t1", 20_000), look("demo", "t1", 20_000)];
  await turn();
  expect(asked.toSorted()).toEqual(["demo t1 0", "demo t1 20000", "demo t2 0", "rival t1 0"]);
  const late = [look("demo", "t1"), look("demo", "t1")];
  await turn();
  expect(asked).toHaveLength(4);
  gates.splice(0).forEach((open) => open());
  const [first, second] = await Promise.all(early);
  expect(first).toBe(second);
  await turn();
  expect(asked.slice(4)).toEqual(["demo t1 0"]);
  gates.splice(0).forEach((open) => open());
  expect(await Promise.all(late)).toEqual(["after call 5", "after call 5"]);
  await Promise.all(waits);
});

it("a second call for the same changes goes out once the first one has run for 1 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let asked = 0;
    const gate = Promise.withResolvers<void>();
    const unused = () => Promise.reject(new Error("not asked here"));
    const reads = batchReads({
      listPublishedChanges: async () => {
        asked += 1;
        await gate.promise;
        return create(ListPublishedChangesResponseSchema);
      },
      batchGetPublishedDocuments: unused,
      revalidatePublishedPages: unused,
      getPublishedSite: unused,
      listPublishedDocuments: unused,
    });
    const look = () => reads.listPublishedChanges({ tenantId: "demo", limit: 50 });
    const first = look();
    await vi.advanceTimersByTimeAsync(0);
    const second = look();
    await vi.advanceTimersByTimeAsync(999);
    expect(asked).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toBe(2);
    gate.resolve();
    await Promise.all([first, second]);
  } finally {
    vi.useRealTimers();
  }
});

describe("readers of one site", () => {
  it("share a call, but not with readers of another site", async () => {
    const asked: string[] = [];
    const unused = () => Promise.reject(new Error("not asked here"));
    const reads = batchReads({
      getPublishedSite: async ({ host = "" }) => {
        asked.push(host);
        return create(GetPublishedSiteResponseSchema, { etag: host });
      },
      batchGetPublishedDocuments: unused,
      revalidatePublishedPages: unused,
      listPublishedDocuments: unused,
      listPublishedChanges: unused,
    });
    const hosts = [...Array.from({ length: 50 }, () => "a.example"), "b.example"];
    const answers = await Promise.all(hosts.map((host) => reads.getPublishedSite({ tenantId: "demo", host })));
    expect(answers.map(({ etag }) => etag)).toEqual(hosts);
    expect(asked).toEqual(["a.example", "b.example"]);
  });
});

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type BatchCreateDocumentsRequestSchema,
  type BatchCreateDocumentsResponse,
  BatchCreateDocumentsResponseSchema,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Registry } from "prom-client";
import { patient } from "@vidimus/kit/testing/patient";
import { expect, test, vi } from "vitest";
import { createInBatches } from "./create-in-batches.ts";

type Items = NonNullable<MessageInitShape<typeof BatchCreateDocumentsRequestSchema>["items"]>;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A documents service whose calls are answered when the test says so. A document's text is its id.
 */
function gatedDocuments() {
  const calls: { documents: string[]; items: Items; answer: () => void }[] = [];
  const createDocument = createInBatches(
    {
      batchCreateDocuments: ({ items = [] }) => {
        const documents = items.map(({ draft }) =>
          Buffer.from(draft?.documentJson ?? "")
            .toString()
            .trim(),
        );
        const { promise, resolve } = Promise.withResolvers<BatchCreateDocumentsResponse>();
        const results = documents.map((documentId) => ({
          outcome: { case: "created" as const, value: { documentId } },
        }));
        calls.push({
          documents,
          items,
          answer: () => resolve(create(BatchCreateDocumentsResponseSchema, { results })),
        });
        return promise;
      },
    },
    new Registry(),
  );
  const push = (tenantId: string, documentId: string, { bytes = 0, prefix = tenantId } = {}) =>
    createDocument({
      caller: { tenantId, keyId: `key ${prefix}`, prefix, scopes: [] },
      documentJson: Buffer.from(documentId.padEnd(bytes)),
      rpc: {},
    });
  return { calls, createDocument, push };
}

/**
 * Makes documents of two tenants and three keys that arrive during a call; answers the next call.
 */
async function sharedCall() {
  const { calls, push } = gatedDocuments();
  const first = push("acme", "a1");
  await turn();
  const later = [push("acme", "a2"), push("acme", "a3", { prefix: "other" }), push("rival", "r1"), push("rival", "r2")];
  await turn();
  calls[0]!.answer();
  expect(await first).toBe("a1");
  await turn();
  calls[1]!.answer();
  return { calls, ids: await Promise.all(later) };
}

test("documents of several tenants share a call, in which the tenants take turns", async () => {
  const { calls, ids } = await sharedCall();
  expect(calls.map(({ documents }) => documents)).toEqual([["a1"], ["a2", "r1", "a3", "r2"]]);
  expect(ids).toEqual(["a2", "a3", "r1", "r2"]);
});

test("each document of a shared call has the key that sent it as its actor", async () => {
  const { calls } = await sharedCall();
  const names = calls[1]!.items.map(({ tenantId, createdBy }) => [tenantId, createdBy?.actor, createdBy?.role]);
  expect(names).toEqual([
    ["acme", "key:acme", "integrator"],
    ["rival", "key:rival", "integrator"],
    ["acme", "key:other", "integrator"],
    ["rival", "key:rival", "integrator"],
  ]);
});

/** Makes a call of `acme` that is late, and one of `rival` after it, which is answered. */
async function lateCall() {
  const { calls, push } = gatedDocuments();
  const slow = push("acme", "a1");
  await turn();
  const quick = push("rival", "r1");
  await vi.waitUntil(() => calls.length === 2, patient);
  calls[1]!.answer();
  return { calls, push, slow, quick };
}

test("a late call does not hold back the call that comes after it", async () => {
  const { calls, slow, quick } = await lateCall();
  expect(await quick).toBe("r1");
  calls[0]!.answer();
  expect(await slow).toBe("a1");
});

test("a tenant whose call was late gets calls of its own until one of them is in time", async () => {
  const { calls, push, slow } = await lateCall();
  calls[0]!.answer();
  await slow;
  const apart = [push("acme", "a2"), push("rival", "r2")];
  await turn();
  expect(calls.slice(2).map(({ documents }) => documents)).toEqual([["a2"], ["r2"]]);
  for (const call of calls) call.answer();
  await Promise.all(apart);
  const together = [push("acme", "a3"), push("rival", "r3")];
  await turn();
  expect(calls.at(-1)?.documents).toEqual(["a3", "r3"]);
  calls.at(-1)?.answer();
  await Promise.all(together);
});

test("a small document does not wait for a large one of its own tenant", async () => {
  const { calls, push } = gatedDocuments();
  const all = [push("acme", "small"), push("acme", "large", { bytes: 1024 * 1024 }), push("acme", "small too")];
  await turn();
  expect(calls.map(({ documents }) => documents)).toEqual([["small", "small too"], ["large"]]);
  calls[0]!.answer();
  expect(await Promise.all([all[0], all[2]])).toEqual(["small", "small too"]);
  calls[1]!.answer();
  expect(await all[1]).toBe("large");
});

test("a call carries at most 1 MiB of large documents", async () => {
  const { calls, push } = gatedDocuments();
  const first = push("acme", "a1", { bytes: 700_000 });
  await turn();
  const half = 512 * 1024;
  const later = [half, half, half, half + 1].map((bytes, index) => push("acme", `a${index + 2}`, { bytes }));
  for (let index = 0; index < 4; index += 1) {
    await turn();
    calls[index]!.answer();
    await turn();
  }
  await Promise.all([first, ...later]);
  expect(calls.map(({ documents }) => documents)).toEqual([["a1"], ["a2", "a3"], ["a4"], ["a5"]]);
});

test("a body is freed once its document is answered, and not before", async () => {
  const { calls, createDocument } = gatedDocuments();
  const documentJson = Buffer.allocUnsafeSlow(100_000).fill(" ");
  const created = createDocument({
    caller: { tenantId: "acme", keyId: "key", prefix: "acme", scopes: [] },
    documentJson,
    rpc: {},
  });
  await turn();
  expect(documentJson.byteLength).toBe(100_000);
  calls[0]!.answer();
  await created;
  expect(documentJson.byteLength).toBe(0);
});

import { create } from "@bufbuild/protobuf";
import {
  type BatchCreateDocumentsResponse,
  BatchCreateDocumentsResponseSchema,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createIntake } from "./intake.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A documents service whose calls are answered when the test says so. A document's text is its id.
 */
function gatedDocuments() {
  const calls: { documents: string[]; answer: () => void }[] = [];
  const intake = createIntake(
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
        calls.push({ documents, answer: () => resolve(create(BatchCreateDocumentsResponseSchema, { results })) });
        return promise;
      },
    },
    new Registry(),
  );
  const push = (tenantId: string, documentId: string, bytes = 0) =>
    intake({
      caller: { tenantId, keyId: `key of ${tenantId}`, prefix: "p", scopes: [] },
      documentJson: Buffer.from(documentId.padEnd(bytes)),
      rpc: {},
    });
  return { calls, push };
}

test("a tenant's document does not wait for another tenant's call", async () => {
  const { calls, push } = gatedDocuments();
  const slow = push("acme", "a1");
  await turn();
  const quick = [push("rival", "r1"), push("rival", "r2")];
  await turn();
  expect(calls.map(({ documents }) => documents)).toEqual([["a1"], ["r1", "r2"]]);
  calls[1]!.answer();
  expect(await Promise.all(quick)).toEqual(["r1", "r2"]);
  calls[0]!.answer();
  expect(await slow).toBe("a1");
});

test("a small document does not wait for a large one of its own tenant", async () => {
  const { calls, push } = gatedDocuments();
  const all = [push("acme", "small"), push("acme", "large", 1024 * 1024), push("acme", "small too")];
  await turn();
  expect(calls.map(({ documents }) => documents)).toEqual([["small", "small too"], ["large"]]);
  calls[0]!.answer();
  expect(await Promise.all([all[0], all[2]])).toEqual(["small", "small too"]);
  calls[1]!.answer();
  expect(await all[1]).toBe("large");
});

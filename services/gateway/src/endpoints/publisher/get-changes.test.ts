import { create } from "@bufbuild/protobuf";
import { ListPublishedChangesResponseSchema } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { expect, test } from "vitest";
import { bodyPieces } from "../../http/answers/answer.ts";
import { type Call } from "../../http/route.ts";
import { getChanges } from "./get-changes.ts";

const mib = 1024 * 1024;

test("an answer of 4 MiB that 200 followers share is in memory once", async () => {
  const answer = create(ListPublishedChangesResponseSchema, { itemsJson: Buffer.alloc(4 * mib, " "), since: "t1" });
  const handle = getChanges.handler({ published: { listPublishedChanges: async () => answer } });
  const call = { caller: { tenantId: "acme" }, query: {}, header: () => undefined } as unknown as Call<object>;
  const answers = await Promise.all(Array.from({ length: 200 }, () => handle(call)));
  const memory = new Set(
    answers.flatMap(({ body }) => (typeof body === "object" ? bodyPieces(body).map(({ buffer }) => buffer) : [])),
  );
  expect(memory.values().reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(5 * mib);
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
});

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ListPublishedDocumentsResponseSchema } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { ImportPhrasesRequestSchema } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fromWire, toWire } from "./wire-message.ts";

const page = fc.record({
  itemsJson: fc.integer({ min: 0, max: 3 * 64 * 1024 }).map((length) => new Uint8Array(length).fill(7)),
  nextCursor: fc.string({ unit: "grapheme" }),
  hasMore: fc.boolean(),
  etag: fc.string(),
});

test("what toWire writes, with up to 192 KiB of bytes, is read unchanged by fromWire and protobuf-es", () => {
  fc.assert(
    fc.property(page, (init) => {
      const wire = toWire(ListPublishedDocumentsResponseSchema, init);
      const message = create(ListPublishedDocumentsResponseSchema, init);
      expect(wire).toHaveLength(toBinary(ListPublishedDocumentsResponseSchema, message).length);
      expect(fromWire(ListPublishedDocumentsResponseSchema, wire)).toEqual(message);
      expect(fromBinary(ListPublishedDocumentsResponseSchema, new Uint8Array(wire))).toEqual(message);
    }),
  );
});

test("encoding a message does not change it", () => {
  const content = new Uint8Array(1024 * 1024).fill(65);
  const message = create(ImportPhrasesRequestSchema, { tenantId: "demo", content });
  const wire = toWire(ImportPhrasesRequestSchema, message);
  expect(message.content).toBe(content);
  expect(message).toEqual(create(ImportPhrasesRequestSchema, { tenantId: "demo", content }));
  expect(fromWire(ImportPhrasesRequestSchema, wire)).toEqual(message);
});

test("large bytes are written last, after all small fields", () => {
  const itemsJson = new Uint8Array(64 * 1024).fill(7);
  const wire = toWire(ListPublishedDocumentsResponseSchema, { itemsJson, nextCursor: "c", hasMore: true, etag: "W/1" });
  expect(wire.subarray(-itemsJson.length)).toEqual(Buffer.from(itemsJson));
});

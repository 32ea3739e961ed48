import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { ImportPhrasesRequestSchema, PhraseFormat } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { expect, test } from "vitest";
import { ImportQueue } from "../domain/import/import-queue.ts";
import { importPhrases, type ImportPhrasesDeps } from "./import-phrases.ts";

const count = 1_000;
const numbers = Array.from({ length: count }, (_, n) => n);
const description = "x".repeat(100);
const forms = {
  CSV: [
    PhraseFormat.CSV,
    `language,phrase,description\n${numbers.map((n) => `sv,ord ${n},${description}\n`).join("")}`,
  ],
  JSON: [PhraseFormat.JSON, JSON.stringify(numbers.map((n) => ({ language: "sv", phrase: `ord ${n}`, description })))],
} as const;

test.each(Object.entries(forms))(
  "the memory of a file of %s is free while its phrases are written",
  async (_, [format, text]) => {
    const request = requestOf(format, text);
    const { buffer } = request.content;
    let bytesDuringWrite = 0;
    const answer = await importOf(request, async (_tenantId, work) => {
      bytesDuringWrite = buffer.byteLength;
      return work(() => Promise.resolve(true));
    });
    expect(answer).toEqual({ imported: count, created: count, changed: 0, unchanged: 0, phraseIds: [] });
    expect(bytesDuringWrite).toBe(0);
  },
);

test.each(Object.entries(forms))("the memory of a refused file of %s is freed", async (_, [format, text]) => {
  const request = requestOf(format, `${text}{`);
  const { buffer } = request.content;
  expect(buffer.byteLength).toBeGreaterThan(text.length);
  const refused = importOf(request, () => Promise.reject(new Error("nothing is to be written")));
  await expect(refused).rejects.toMatchObject({ kind: "invalid" });
  expect(buffer.byteLength).toBe(0);
});

test("the memory of a small file, which may be a part of Node's pool, is left alone", async () => {
  const text = "language,phrase\nsv,kött\n";
  const pooled = Buffer.from(text);
  const request = create(ImportPhrasesRequestSchema, { tenantId: "demo", format: PhraseFormat.CSV, content: pooled });
  const answer = await importOf(request, (_tenantId, work) => work(() => Promise.resolve(true)));
  expect(answer).toEqual({ imported: 1, created: 1, changed: 0, unchanged: 0, phraseIds: [] });
  expect(pooled.toString()).toBe(text);
});

function requestOf(format: PhraseFormat, text: string) {
  const content = new Uint8Array(Buffer.from(text));
  return create(ImportPhrasesRequestSchema, { tenantId: "demo", format, content });
}

type Import = ReturnType<typeof importPhrases>;

function importOf(request: Parameters<Import>[0], change: ImportPhrasesDeps["phrases"]["change"]): ReturnType<Import> {
  const phrases = { find: () => Promise.resolve([]), change };
  const deps = { phrases, imports: new ImportQueue(), now: () => new Date(), mintId: () => crypto.randomUUID() };
  const context: Pick<HandlerContext, "signal"> = { signal: new AbortController().signal };
  return importPhrases(deps)(request, context as HandlerContext);
}

import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { ListPhrasesRequestSchema, PhraseFormat } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { expect, test } from "vitest";
import { ExportSlots } from "../domain/export-slots.ts";
import { ExportTurns } from "../domain/export-turns.ts";
import type { Phrase } from "../domain/phrase.ts";
import { listPhrases, type ListPhrasesDeps } from "./list-phrases.ts";

const phrase = (n: number): Phrase => ({
  id: `p${n}`,
  language: "sv",
  phrase: `ord ${n}`,
  caseSensitive: false,
  forbidden: false,
  commonMistakes: [],
  description: "x".repeat(1_000),
  createdAt: new Date(0),
  updatedAt: new Date(0),
});

test("an export frees the memory of each piece before it hands out the next", async () => {
  async function* batches() {
    for (let from = 0; from < 500; from += 100) yield Array.from({ length: 100 }, (_, n) => phrase(from + n));
  }
  const snapshot = { revision: "r", batches: batches(), [Symbol.asyncDispose]: () => Promise.resolve() };
  const phrases: ListPhrasesDeps["phrases"] = {
    snapshot: () => Promise.resolve(snapshot),
    page: () => Promise.reject(new Error("an export has no pages")),
  };
  const context: Pick<HandlerContext, "signal"> = { signal: new AbortController().signal };
  const list = listPhrases({ phrases, exports: new ExportSlots(), exportTurns: new ExportTurns() });
  const request = create(ListPhrasesRequestSchema, { tenantId: "demo", format: PhraseFormat.JSON });
  const pieces: Uint8Array[] = [];
  let text = "";
  for await (const { content = new Uint8Array() } of list(request, context as HandlerContext)) {
    expect(pieces.map(({ byteLength }) => byteLength)).toEqual(pieces.map(() => 0));
    text += Buffer.from(content).toString();
    pieces.push(content);
  }
  expect(pieces.length).toBeGreaterThan(3);
  expect(JSON.parse(text)).toHaveLength(500);
});

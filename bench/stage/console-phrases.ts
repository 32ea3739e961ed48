import { PhraseFormat } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { readPhrases } from "@vidimus/console/pages/phrases/stored-phrase";
import type { PhraseCalls } from "@vidimus/console/rpc/called-methods";
import { asOwner } from "./signed-in.ts";

const phrasesMax = 20_000;

/** Returns the id of one of the phrases. */
export async function fillDictionary(phrases: PhraseCalls, tenantId: string): Promise<string> {
  const rows = Array.from({ length: phrasesMax }, (_, n) => `sv,ord ${n},,,misstag ${n}|fel ${n},en beskrivning`);
  const header = "language,phrase,caseSensitive,forbidden,commonMistakes,description";
  const content = Buffer.from([header, ...rows].join("\n"));
  await phrases.importPhrases({ tenantId, format: PhraseFormat.CSV, content }, { ...asOwner, timeoutMs: 60_000 });
  let phraseId = "";
  const request = { tenantId, format: PhraseFormat.JSON, limit: 1 };
  for await (const part of phrases.listPhrases(request, asOwner)) phraseId = readPhrases(part.content)[0]?.id ?? "";
  return phraseId;
}

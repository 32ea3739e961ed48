import { CliError } from "../cli-error.ts";
import type { ImportAnswer } from "../public-api/phrases-api.ts";
import { addAnswer, noAnswer } from "./import-summary.ts";
import type { Part } from "./phrase-file.ts";
import type { LanguageDictionary } from "./phrase-service.ts";

/** The result of a replacement, or of its dry run. */
interface Replacement extends ImportAnswer {
  readonly deleted: number;
}

/** Calls `send`, and adds the name of the part's file to its errors. */
type Send = <T>(part: Part, send: () => Promise<T>) => Promise<T>;

/**
 * Makes a language contain the phrases of the parts and no others. All parts are validated before
 * the first is written, and old phrases are deleted after the last part was written. So a failure
 * leaves too many phrases and never too few, and repeating the replacement completes it. Phrases
 * that others add meanwhile stay.
 */
export async function replaceLanguage(
  dictionary: Pick<LanguageDictionary, "ids" | "import" | "delete">,
  parts: readonly Part[],
  { dryRun, send }: { dryRun: boolean; send: Send },
): Promise<Replacement> {
  if (parts.length === 0)
    throw new CliError("there is nothing to replace the language by; see phrases delete --language");
  const standing = await dictionary.ids();
  const preview = await importAll(dictionary, parts, true, send);
  if (dryRun) return { ...preview.sum, deleted: standing.difference(preview.ids).size };
  const { sum, ids } = await importAll(dictionary, parts, false, send);
  return { ...sum, deleted: await dictionary.delete([...standing.difference(ids)]) };
}

async function importAll(
  dictionary: Pick<LanguageDictionary, "import">,
  parts: readonly Part[],
  dryRun: boolean,
  send: Send,
): Promise<{ sum: ImportAnswer; ids: Set<string> }> {
  let sum = noAnswer;
  const ids = new Set<string>();
  for (const part of parts) {
    const answer = await send(part, () => dictionary.import(part, dryRun));
    sum = addAnswer(sum, answer);
    for (const id of answer.phraseIds) ids.add(id);
  }
  return { sum, ids };
}

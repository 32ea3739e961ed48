import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { addAnswer, leftOutOf, noAnswer, summarize } from "../../phrases/import-summary.ts";
import type { Part } from "../../phrases/phrase-file.ts";
import { type FileOptions, type PhraseFile, readPhraseFile } from "../../phrases/read-phrase-file.ts";
import { ImportRefused, openPhrasesApi } from "../../public-api/phrases-api.ts";
import { openSession, type Session } from "../../session.ts";
import { printable } from "../../terminal/printable.ts";
import { openProgress } from "../../terminal/progress.ts";
import type { World } from "../../world.ts";

interface Source extends PhraseFile {
  readonly file: string;
}

interface ImportOptions extends FileOptions {
  replace?: boolean;
  yes?: boolean;
}

export function importPhrases(world: World): Command {
  return new Command("import")
    .description("import phrases from CSV, JSON, word lists and hunspell dictionaries")
    .argument("<files...>", "files with phrases, - for standard input")
    .option("--language <tag>", "language of lists of words; with --replace the language to replace")
    .option("--format <format>", "csv, json, words or dic (default: by the file's extension)")
    .option("--encoding <name>", "encoding of the files (default: UTF-8, for .dic what its .aff says)")
    .option("--aff <file>", "what the flags of a .dic mean (default: the .aff beside it)")
    .option("--replace", "delete the phrases of the language that the files do not have; without --yes say only what")
    .option("--yes", "with --replace: do it")
    .addHelpText("after", help)
    .action(async (files: string[], options: ImportOptions, command: Command) => {
      const { replace = false, yes = false, language } = options;
      if (yes && !replace) throw new CliError("--yes is for --replace");
      const session = await openSession(world, command);
      const sources: Source[] = [];
      for (const file of files) sources.push({ file, ...(await readPhraseFile(world, file, options)) });
      if (!replace) return importAll(session, sources);
      if (!language) throw new CliError("--replace replaces one language: pass --language");
      return replaceAll(session, sources, { language, dryRun: !yes });
    });
}

async function importAll(session: Session, sources: readonly Source[]): Promise<void> {
  const api = openPhrasesApi(session);
  const rows = sources.flatMap(({ parts }) => parts).reduce((sum, part) => sum + part.rows, 0);
  using progress = await openProgress(session.world.stderr, rows);
  let sum = noAnswer;
  for (const { file, parts } of sources) {
    for (const part of parts) {
      const { imported } = sum;
      const before = imported > 0 ? `${imported} rows before were imported; the import is safe to repeat` : undefined;
      sum = addAnswer(sum, await namingRows(file, part, before, () => api.import(part)));
      progress.advance(part.rows, `${sum.imported} imported`);
    }
  }
  const leftOut = leftOutOf(sources);
  session.print({ ...sum, leftOut }, summarize(sum, leftOut));
}

async function replaceAll(
  session: Session,
  sources: readonly Source[],
  { language, dryRun }: { language: string; dryRun: boolean },
): Promise<void> {
  // Imported here, because these modules load the RPC client, which only `--replace` needs.
  const { openLanguage } = await import("../../phrases/phrase-service.ts");
  const { replaceLanguage } = await import("../../phrases/replace-language.ts");
  using dictionary = await openLanguage(session, language);
  const fileOf = new Map(sources.flatMap(({ file, parts }) => parts.map((part) => [part, file] as const)));
  const result = await replaceLanguage(dictionary, [...fileOf.keys()], {
    dryRun,
    send: (part, send) => namingRows(fileOf.get(part) ?? "", part, undefined, send),
  });
  const leftOut = leftOutOf(sources);
  const summary = `${summarize(result, leftOut)}; ${result.deleted} deleted`;
  session.print({ ...result, leftOut, dryRun }, dryRun ? `${summary}\nnothing was written: --yes does it` : summary);
}

/**
 * Sends a part of a file. When that fails with a `CliError`, the message names the file, and the
 * invalid rows that the answer names; `before`, if given, is its last line.
 */
async function namingRows<T>(file: string, part: Part, before: string | undefined, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const lines = error instanceof ImportRefused ? refusalLines(part, error) : [inFile(part, error.message)];
    const [first = "", ...others] = lines;
    // The answer says "nothing was imported" of this part; rows before it were imported.
    const whole = before === undefined ? first : first.replace("nothing was imported", "nothing more was imported");
    const told = [`${file}: ${whole}`, ...others, ...(before === undefined ? [] : [before])];
    throw new CliError(printable(told.join("\n")), { cause: error });
  }
}

/** A message that names a row by its position in the part, with the position in the file. */
function inFile(part: Part, message: string): string {
  return message.replace(/\b(line|index) (\d+)(?=:)/, (_, noun: string, at: string) =>
    part.nameOfRow({ [noun]: Number(at) }),
  );
}

function refusalLines(part: Part, { message, faults }: ImportRefused): string[] {
  const [first = ""] = message.split(";");
  return [first, ...faults.map((fault) => `  ${part.nameOfRow(fault)}: ${fault.message}`)];
}

const help = `
By the name of the file: .csv (with commas or semicolons) and .json as the platform exports them, .dic a hunspell dictionary, all else one
word or phrase a line. Of a hunspell dictionary the words are imported, not the forms that its affixes make of them; forbidden words as
forbidden. What is no word by itself (comments, fragments of compounds, stems that need an affix) is left out and counted.

A file of at most 50,000 rows is imported whole or not at all. A larger one goes in parts of 10,000; when one is refused,
those before it stay. Every row is created or replaced, so a repeat changes nothing. Retry-After is waited out, see
--max-wait. The key needs the scope phrases:write.

--replace goes to the phrases service of internal teams (--tenant, --phrases) and needs no key. It checks all files first, writes, and
deletes last: when it is cut off, there are too many phrases and never too few, and the same command again completes it.`;

import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import type { Part } from "../../phrases/phrase-file.ts";
import { type FileOptions, readPhraseFile } from "../../phrases/read-phrase-file.ts";
import { ImportRefused, openPhrasesApi, type PhrasesApi } from "../../public-api/phrases-api.ts";
import { openSession } from "../../session.ts";
import { printable } from "../../terminal/printable.ts";
import { openProgress } from "../../terminal/progress.ts";
import type { World } from "../../world.ts";

/** `phrases import FILES…` */
export function importPhrases(world: World): Command {
  return new Command("import")
    .description("import phrases from CSV, JSON, word lists and hunspell dictionaries")
    .argument("<files...>", "files with phrases, - for standard input")
    .option("--language <tag>", "language of lists of words")
    .option("--format <format>", "csv, json, words or dic (default: by the file's extension)")
    .option("--encoding <name>", "encoding of the files (default: UTF-8, for .dic what its .aff says)")
    .addHelpText("after", help)
    .action(async (files: string[], options: FileOptions, command: Command) => {
      const session = await openSession(world, command);
      const api = openPhrasesApi(session);
      const sources = [];
      for (const file of files) sources.push({ file, parts: await readPhraseFile(world, file, options) });
      const rows = sources.flatMap(({ parts }) => parts).reduce((sum, part) => sum + part.rows, 0);
      using progress = await openProgress(world.stderr, rows);
      let imported = 0;
      for (const { file, parts } of sources) {
        for (const part of parts) {
          imported += await sendPart(api, file, part, imported);
          progress.advance(part.rows, `${imported} imported`);
        }
      }
      session.print({ imported }, `${imported} imported`);
    });
}

async function sendPart(api: PhrasesApi, file: string, part: Part, before: number): Promise<number> {
  try {
    return await api.import(part);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const lines = error instanceof ImportRefused ? placesIn(file, part, error) : [`${file}: ${error.message}`];
    if (before > 0) lines.push(`${before} rows before were imported; the import is safe to repeat`);
    throw new CliError(printable(lines.join("\n")), { cause: error });
  }
}

function placesIn(file: string, part: Part, { message, faults }: ImportRefused): string[] {
  return [`${file}: ${message.split(";")[0]}`, ...faults.map((fault) => `  ${part.placeOf(fault)}: ${fault.message}`)];
}

const help = `
By the name of the file: .csv (with commas or semicolons) and .json as the platform exports them, .dic a hunspell dictionary (its words, without
their flags), all else one word or phrase a line.

A file of at most 50,000 rows is imported whole or not at all. A larger one goes in parts of 10,000; when one is refused,
those before it stay. Every row is created or replaced, so a repeat changes nothing. Retry-After is waited out, see
--max-wait. The key needs the scope phrases:write.`;

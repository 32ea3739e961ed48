import { Command } from "commander";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CliError, messageOf } from "../../cli-error.ts";
import { openPhrasesApi } from "../../public-api/phrases-api.ts";
import { unwrapEnvelope } from "../../public-api/unwrap-envelope.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

interface ExportOptions {
  language?: string;
  format?: string;
  output?: string;
}

export function exportPhrases(world: World): Command {
  return new Command("export")
    .description("export the dictionary, to standard output or a file")
    .option("--language <tag>", "only phrases of exactly this language")
    .option("--format <format>", "csv or json (default: json for a file named .json, else csv)")
    .option("--output <file>", "file to write; it appears when the export is whole")
    .action(async ({ language, output, ...options }: ExportOptions, command: Command) => {
      const format = options.format ?? (output?.toLowerCase().endsWith(".json") ? "json" : "csv");
      if (format !== "csv" && format !== "json") throw new CliError(`--format must be csv or json, not "${format}"`);
      const session = await openSession(world, command);
      const answer = await openPhrasesApi(session).export({ format, ...(language ? { language } : {}) });
      const content = format === "json" ? unwrapEnvelope(answer) : answer;
      if (output === undefined) return write(content, world.stdout, { end: false });
      const bytes = await writeFileWhole(content, resolve(world.cwd, output));
      session.print({ file: output, bytes }, `${bytes} bytes in ${output}`);
    });
}

async function writeFileWhole(content: AsyncIterable<Uint8Array>, file: string): Promise<number> {
  const unfinished = `${file}.part`;
  const stream = createWriteStream(unfinished);
  try {
    await write(content, stream, { end: true });
    await rename(unfinished, file);
    return stream.bytesWritten;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function write(
  content: AsyncIterable<Uint8Array>,
  to: NodeJS.WritableStream,
  options: { end: boolean },
): Promise<void> {
  try {
    await pipeline(Readable.from(content), to, options);
  } catch (error) {
    throw new CliError(`the export broke off and is not whole: ${messageOf(error)}`, { cause: error });
  }
}

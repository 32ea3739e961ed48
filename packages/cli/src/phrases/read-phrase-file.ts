import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { CliError, messageOf } from "../cli-error.ts";
import { readInput } from "../input/read-input.ts";
import type { World } from "../world.ts";
import { type FileFormat, fileFormats, type Part, partsOf } from "./phrase-file.ts";

/** The options of `phrases import` about its files. */
export interface FileOptions {
  language?: string;
  format?: string;
  encoding?: string;
}

/**
 * Reads a file, `-` for standard input, into parts to import.
 *
 * @throws CliError that names the file
 */
export async function readPhraseFile(world: World, file: string, options: FileOptions): Promise<Part[]> {
  const format = formatOf(file, options.format);
  if (!options.language && (format === "words" || format === "dic")) {
    throw new CliError(`${file}: a list of words does not say its language: pass --language`);
  }
  const bytes = await readInput(world, file);
  const path = resolve(world.cwd, file);
  const encoding = options.encoding ?? (format === "dic" ? await declaredEncoding(path) : "utf-8");
  const text = decode(bytes, encoding, file);
  try {
    return partsOf(text, format, options.language ?? "");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CliError(`${file}: ${error.message}`);
  }
}

function formatOf(file: string, given: string | undefined): FileFormat {
  const name = given ?? { ".csv": "csv", ".json": "json", ".dic": "dic" }[extname(file).toLowerCase()] ?? "words";
  const format = fileFormats.find((known) => known === name);
  if (!format) throw new CliError(`--format must be one of ${fileFormats.join(", ")}, not "${name}"`);
  return format;
}

/** The encoding of a hunspell dictionary is declared in the .aff file beside it. */
async function declaredEncoding(dictionary: string): Promise<string> {
  const rules = await readFile(dictionary.replace(/\.dic$/i, ".aff"), "latin1").catch(() => "");
  const [, name = "utf-8"] = /^SET\s+(\S+)/m.exec(rules) ?? [];
  return name.replace(/^ISO8859/i, "ISO-8859");
}

function decode(bytes: Uint8Array, encoding: string, file: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CliError(`${file} cannot be read as ${encoding}, see --encoding: ${messageOf(error)}`);
  }
}

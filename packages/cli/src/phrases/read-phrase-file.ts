import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { CliError, messageOf } from "../cli-error.ts";
import { readInput } from "../input/read-input.ts";
import type { World } from "../world.ts";
import { declaredEncoding, readAffixRules } from "./hunspell/affix-rules.ts";
import { type LeftOut, readDictionary } from "./hunspell/read-dictionary.ts";
import { type FileFormat, fileFormats, type Part, partsOf, wordParts } from "./phrase-file.ts";

export interface FileOptions {
  language?: string;
  format?: string;
  encoding?: string;
  aff?: string;
}

export interface PhraseFile {
  /** The parts to import, in this order. */
  readonly parts: readonly Part[];
  readonly leftOut: LeftOut;
}

/**
 * Reads a file, `-` for standard input, into parts to import.
 *
 * @throws CliError when the file cannot be read as its format, or an option that it needs is
 * missing or wrong
 */
export async function readPhraseFile(world: World, file: string, options: FileOptions): Promise<PhraseFile> {
  const format = formatOf(file, options.format);
  const { language = "" } = options;
  if (language === "" && (format === "words" || format === "dic")) {
    throw new CliError(`${file}: a list of words does not say its language: pass --language`);
  }
  const bytes = await readInput(world, file);
  if (format === "dic") return readHunspell(world, file, bytes, { ...options, language });
  const text = decode(bytes, options.encoding ?? "utf-8", file);
  try {
    return { parts: partsOf(text, format, language), leftOut: { comments: 0, fragments: 0, stems: 0, duplicates: 0 } };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CliError(`${file}: ${error.message}`);
  }
}

/**
 * Reads a hunspell dictionary with its .aff file, which states the encoding of both files and the
 * meaning of the dictionary's flags.
 */
async function readHunspell(
  world: World,
  file: string,
  bytes: Uint8Array,
  options: FileOptions & { language: string },
): Promise<PhraseFile> {
  const aff = options.aff ?? file.replace(/(\.dic)?$/i, ".aff");
  const isGiven = options.aff !== undefined;
  const declared = isGiven || file !== "-" ? await readAff(resolve(world.cwd, aff), isGiven) : undefined;
  const encoding = options.encoding ?? (declared ? declaredEncoding(declared) : "utf-8");
  const rules = declared && readAffixRules(decode(declared, encoding, aff));
  const { words, leftOut, flagged } = readDictionary(decode(bytes, encoding, file), rules);
  if (flagged > 0 && !rules) {
    throw new CliError(
      `${file}: ${flagged} words have flags, which may forbid them, and the .aff file that says so is not there: ` +
        "put it beside the .dic, or pass --aff FILE",
    );
  }
  return { parts: wordParts(words, options.language), leftOut };
}

async function readAff(path: string, isGiven: boolean): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (!isGiven && error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new CliError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function formatOf(file: string, given: string | undefined): FileFormat {
  const name = given ?? { ".csv": "csv", ".json": "json", ".dic": "dic" }[extname(file).toLowerCase()] ?? "words";
  const format = fileFormats.find((known) => known === name);
  if (!format) throw new CliError(`--format must be one of ${fileFormats.join(", ")}, not "${name}"`);
  return format;
}

function decode(bytes: Uint8Array, encoding: string, file: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CliError(`${file} cannot be read as ${encoding}, see --encoding: ${messageOf(error)}`);
  }
}

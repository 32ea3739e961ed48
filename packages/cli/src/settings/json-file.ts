import { readFile } from "node:fs/promises";
import { CliError, messageOf } from "../failure.ts";

/**
 * A JSON object from a file; undefined when there is no such file.
 *
 * @throws CliError naming the file, when it cannot be read or holds something else
 */
export async function readJsonFile(file: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const value = parse(file, await readText(file));
  if (value === undefined || isRecord(value)) return value;
  throw new CliError(`${file} does not hold a JSON object`);
}

/** Narrows to an object: no array, no null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw new CliError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

function parse(file: string, text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    throw new CliError(`${file} is not JSON: ${messageOf(error)}`);
  }
}

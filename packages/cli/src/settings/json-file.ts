import { readFile } from "node:fs/promises";
import { CliError, messageOf } from "../cli-error.ts";
import { isJsonObject, type JsonObject } from "../json-object.ts";

/**
 * Reads a JSON object from a file; undefined when there is no such file.
 *
 * @throws CliError naming the file, when it cannot be read or is malformed
 */
export async function readJsonFile(file: string): Promise<JsonObject | undefined> {
  const value = parse(file, await readText(file));
  if (value === undefined || isJsonObject(value)) return value;
  throw new CliError(`${file} does not hold a JSON object`);
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

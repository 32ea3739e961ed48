import { hasByteOrderMark } from "@vidimus/kit/json-bytes";
import { CliError, messageOf } from "../cli-error.ts";
import type { World } from "../world.ts";
import { readInput } from "./read-input.ts";

/**
 * Reads a file, or standard input for `-`, as JSON.
 *
 * @returns the parsed value, and the bytes, in which an integer that no double equals keeps its
 * digits
 * @throws CliError that names the file, when it cannot be read, is not JSON, or begins with a byte
 * order mark
 */
export async function readJson(world: World, file: string): Promise<{ bytes: Buffer<ArrayBuffer>; value: unknown }> {
  const bytes = await readInput(world, file);
  if (hasByteOrderMark(bytes)) throw new CliError(`${file} begins with a byte order mark, which JSON must not have`);
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return { bytes, value };
  } catch (error) {
    throw new CliError(`${file} is not JSON: ${messageOf(error)}`);
  }
}

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError, messageOf } from "../cli-error.ts";
import type { World } from "../world.ts";

/** Reads all of a file, or of standard input for `-`. @throws CliError when it cannot be read */
export async function readInput(world: World, file: string): Promise<Buffer<ArrayBuffer>> {
  try {
    if (file !== "-") return await readFile(resolve(world.cwd, file));
    const chunks: Uint8Array[] = [];
    for await (const chunk of world.stdin) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

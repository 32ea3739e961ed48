import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError, messageOf } from "../../failure.ts";
import type { World } from "../../world.ts";

/** A file, or standard input for "-", with what it says as JSON. The bytes are sent as they are: we only peek. */
export async function readJson(world: World, file: string): Promise<{ bytes: Buffer<ArrayBuffer>; value: unknown }> {
  const bytes = await readWhole(world, file);
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return { bytes, value };
  } catch (error) {
    throw new CliError(`${file} is not JSON: ${messageOf(error)}`);
  }
}

async function readWhole(world: World, file: string): Promise<Buffer<ArrayBuffer>> {
  try {
    if (file !== "-") return await readFile(resolve(world.cwd, file));
    const chunks: Uint8Array[] = [];
    for await (const chunk of world.stdin) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

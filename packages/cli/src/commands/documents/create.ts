import { Command } from "commander";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError, messageOf } from "../../failure.ts";
import { openPublicApi } from "../../gateway/public-api.ts";
import { openSession } from "../../session.ts";
import { isRecord } from "../../settings/json-file.ts";
import type { World } from "../../world.ts";

/** `documents create FILE` */
export function createDocument(world: World): Command {
  return new Command("create")
    .description("push one document, given as JSON; one that is there already is an error")
    .argument("<file>", "file with the document, - for standard input")
    .action(async (file: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const bytes = await readWhole(world, file);
      const id = idOf(bytes, file);
      const push = await openPublicApi(session).pushDocument(bytes, id !== undefined);
      if (push.outcome === "existing" && !push.own) throw new CliError(`CONFLICT: ${push.message}`);
      const made = push.outcome === "created" ? push.id : id;
      session.print({ id: made, outcome: push.outcome }, `${made} is ${push.outcome}`);
    });
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

/** The id the document brings along. The bytes are sent as they are: the platform judges them, not we. */
function idOf(bytes: Buffer, file: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new CliError(`${file} is not JSON: ${messageOf(error)}`);
  }
  return isRecord(value) && typeof value["id"] === "string" ? value["id"].toLowerCase() : undefined;
}

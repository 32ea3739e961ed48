import { Command } from "commander";
import { CliError } from "../../failure.ts";
import { openPublicApi } from "../../gateway/public-api.ts";
import { openSession } from "../../session.ts";
import { isRecord } from "../../settings/json-file.ts";
import type { World } from "../../world.ts";
import { readJson } from "./read-json.ts";

/** `documents create FILE` */
export function createDocument(world: World): Command {
  return new Command("create")
    .description("push one document, given as JSON; one that is there already is an error")
    .argument("<file>", "file with the document, - for standard input")
    .action(async (file: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const { bytes, value } = await readJson(world, file);
      const id = idOf(value);
      const push = await openPublicApi(session).pushDocument(bytes, id !== undefined);
      if (push.outcome === "existing" && !push.own) throw new CliError(`CONFLICT: ${push.message}`);
      const made = push.outcome === "created" ? push.id : id;
      session.print({ id: made, outcome: push.outcome }, `${made} is ${push.outcome}`);
    });
}

/** The id the document brings along. */
function idOf(value: unknown): string | undefined {
  return isRecord(value) && typeof value["id"] === "string" ? value["id"].toLowerCase() : undefined;
}

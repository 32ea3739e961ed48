import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { readJson } from "../../input/read-json.ts";
import { openDocumentsApi } from "../../public-api/documents-api.ts";
import { openSession } from "../../session.ts";
import { isJsonObject } from "../../json-object.ts";
import type { World } from "../../world.ts";

export function createDocument(world: World): Command {
  return new Command("create")
    .description("push one document, given as JSON; fails when its id is taken")
    .argument("<file>", "file with the document, - for standard input")
    .action(async (file: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const { bytes, value } = await readJson(world, file);
      const id = idOf(value);
      const push = await openDocumentsApi(session).pushDocument(bytes, id !== undefined);
      if (push.outcome === "existing" && !push.mayBeOurs) throw new CliError(`CONFLICT: ${push.message}`);
      const made = push.outcome === "created" ? push.id : id;
      session.print({ id: made, outcome: push.outcome }, `${made} is ${push.outcome}`);
    });
}

/** In lowercase, as the platform stores ids. */
function idOf(value: unknown): string | undefined {
  return isJsonObject(value) && typeof value["id"] === "string" ? value["id"].toLowerCase() : undefined;
}

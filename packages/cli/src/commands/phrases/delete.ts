import { Command } from "commander";
import { openPhrasesApi } from "../../public-api/phrases-api.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

/** `phrases delete ID` */
export function deletePhrase(world: World): Command {
  return new Command("delete")
    .description("delete one phrase")
    .argument("<id>", "id of the phrase")
    .action(async (id: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      await openPhrasesApi(session).delete(id);
      session.print({ id }, `${id} is deleted`);
    });
}

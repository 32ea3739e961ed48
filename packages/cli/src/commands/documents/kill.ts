import { Command } from "commander";
import { applyTransitions } from "../../documents/apply-transitions.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function killDocuments(world: World): Command {
  return new Command("kill")
    .description("take the published version of documents back for good: receivers are told to purge it")
    .argument("<ids...>", "ids of documents")
    .action(async (ids: string[], _: unknown, command: Command) => {
      await applyTransitions(await openSession(world, command), ids, "kill", "last-published");
    });
}

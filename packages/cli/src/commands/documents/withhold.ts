import { Command } from "commander";
import { applyTransitions } from "../../documents/apply-transitions.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function withholdDocuments(world: World): Command {
  return new Command("withhold")
    .description("withdraw published documents; each is tried, and any failure makes the exit code 1")
    .argument("<ids...>", "ids of documents")
    .action(async (ids: string[], _: unknown, command: Command) => {
      await applyTransitions(await openSession(world, command), ids, "withhold", "last-published");
    });
}

import { Command } from "commander";
import { applyTransitions } from "../../documents/apply-transitions.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function publishDocuments(world: World): Command {
  return new Command("publish")
    .description("publish the newest version of documents; each is tried, and any failure makes the exit code 1")
    .argument("<ids...>", "ids of documents")
    .action(async (ids: string[], _: unknown, command: Command) => {
      await applyTransitions(await openSession(world, command), ids, "publish", "head");
    });
}

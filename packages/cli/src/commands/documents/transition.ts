import { Command, Option } from "commander";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { type Aim, moveDocument, movedTable } from "./move-documents.ts";

/** Transitions of the default workflow that lead out of a published or withdrawn state only. */
const leadOutOfLive = new Set(["withhold", "kill"]);

/** `documents transition ID NAME --tenant T` */
export function transitionDocument(world: World): Command {
  return new Command("transition")
    .description("move a document along a transition of its workflow")
    .argument("<id>", "id of the document")
    .argument("<name>", "name of the transition, for example submit, approve, publish, withhold, kill")
    .addOption(
      new Option(
        "--on <version>",
        "move the newest version, or the published one (default for withhold and kill)",
      ).choices(["head", "live"]),
    )
    .action(async (id: string, name: string, { on }: { on?: Aim }, command: Command) => {
      const session = await openSession(world, command);
      const aim = on ?? (leadOutOfLive.has(name) ? "live" : "head");
      const moved = await moveDocument(session, { id, name, aim });
      session.print(moved, movedTable([moved]));
    });
}

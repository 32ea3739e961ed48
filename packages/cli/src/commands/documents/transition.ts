import { Command, Option } from "commander";
import { applyTransition, transitionTable, type VersionChoice } from "../../documents/apply-transition.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

/** Transitions of the default workflow that start only from a published or withdrawn state. */
const fromPublished = new Set(["withhold", "kill"]);

export function transitionDocument(world: World): Command {
  return new Command("transition")
    .description("apply a transition of its workflow to a document")
    .argument("<id>", "id of the document")
    .argument("<name>", "name of the transition, for example submit, approve, publish, withhold, kill")
    .addOption(
      new Option(
        "--on <version>",
        "act on the newest version, or on the published one (default for withhold and kill)",
      ).choices(["head", "last-published"]),
    )
    .action(async (id: string, name: string, { on }: { on?: VersionChoice }, command: Command) => {
      const session = await openSession(world, command);
      const transition = { id, name, on: on ?? (fromPublished.has(name) ? "last-published" : "head") };
      const transitioned = await applyTransition(session, transition);
      session.print(transitioned, transitionTable([transitioned]));
    });
}

import { Command } from "commander";
import { openSession } from "../../session.ts";
import { chooseProfile } from "../../settings/profiles.ts";
import type { World } from "../../world.ts";

export function chooseProfileCommand(world: World): Command {
  return new Command("use")
    .description("choose the profile of commands that name none, outside of a checkout with a dev stack")
    .argument("<name>", "name of a profile")
    .action(async (name: string, _: unknown, command: Command) => {
      await chooseProfile(name, world);
      const { print } = await openSession(world, command);
      print({ name }, `profile ${name} is used where no dev stack is found and no other is named`);
    });
}

import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { flagsOf, openSession } from "../../session.ts";
import { readProfiles, saveProfile } from "../../settings/profiles.ts";
import { settingNames } from "../../settings/setting-rules.ts";
import type { World } from "../../world.ts";

export function addProfile(world: World): Command {
  return new Command("add")
    .description("keep the settings that are given as flags under a name, for --profile")
    .argument("<name>", "name of the deployment")
    .option("--replace", "replace the profile of that name")
    .action(async (name: string, { replace = false }: { replace?: boolean }, command: Command) => {
      const { settings, print } = await openSession(world, command);
      const flags = flagsOf(command);
      const given = settingNames.filter((each) => flags[each] || (each === "key" && flags["key-file"]));
      if (given.length === 0)
        throw new CliError("say what the profile holds by flags: --gateway, --tenant, --key-file and others");
      if (!replace && Object.hasOwn((await readProfiles(world)) ?? {}, name)) {
        throw new CliError(`there is a profile "${name}": add --replace, or choose another name`);
      }
      await saveProfile(name, Object.fromEntries(given.map((each) => [each, settings.get(each)])), world);
      print({ name, settings: given }, `profile ${name} holds ${given.join(", ")}`);
    });
}

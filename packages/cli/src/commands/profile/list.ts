import { Command } from "commander";
import { isJsonObject } from "../../json-object.ts";
import { openSession } from "../../session.ts";
import { chosenProfile, readProfiles } from "../../settings/profiles.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

export function listProfiles(world: World): Command {
  return new Command("list").description("list the profiles").action(async (_: unknown, command: Command) => {
    const { print } = await openSession(world, command);
    const chosen = await chosenProfile(world);
    const rows = Object.entries((await readProfiles(world)) ?? {}).map(([name, profile]) => {
      const settings = isJsonObject(profile) ? profile : {};
      const [gateway, tenant] = [textOf(settings["gateway"]), textOf(settings["tenant"])];
      return { name, chosen: name === chosen, gateway, tenant, settings: Object.keys(settings) };
    });
    const lines = rows.map(({ name, chosen, gateway, tenant, settings }) => [
      chosen ? `${name} *` : name,
      gateway ?? "-",
      tenant ?? "-",
      settings.join(", "),
    ]);
    print(rows, table(["name", "gateway", "tenant", "holds"], lines));
  });
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

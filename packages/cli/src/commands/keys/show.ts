import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";
import { stateOf, toShown } from "./shown-key.ts";

export function showKey(world: World): Command {
  return new Command("show")
    .description("read one key, without its secret")
    .argument("<id>", "id of the key")
    .action(async (keyId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", AccessService);
      const { apiKey } = await access.read((client, options) => client.getApiKey({ tenantId, keyId }, options));
      if (!apiKey) throw new CliError(`tenant ${tenantId} has no key ${keyId}`);
      const shown = toShown(apiKey);
      const lines = Object.entries({ ...shown, state: stateOf(shown, new Date()) });
      session.print(
        shown,
        table(
          ["field", "value"],
          lines.map(([name, value]) => [name, [value ?? "-"].flat().join(",")]),
        ),
      );
    });
}

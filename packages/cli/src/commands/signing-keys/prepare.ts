import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { shownKey } from "./shown-key.ts";

export function prepareSigningKey(world: World): Command {
  return new Command("prepare")
    .description("publish one more key, which signs when it is activated")
    .action(async (_: unknown, command: Command) => {
      const session = await openSession(world, command);
      using signing = await openService(session, "signing", KeyAdminService);
      const { key } = await signing.call((client, options) => client.prepareKey({}, options));
      const shown = key && shownKey(key);
      session.print(shown, `signing key ${shown?.id} is published and may sign from ${shown?.validFrom} on`);
    });
}

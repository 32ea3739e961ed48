import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { shownKey } from "./shown-key.ts";

export function retireSigningKey(world: World): Command {
  return new Command("retire")
    .description("retire a pending key, which then never signs; the active one is retired by activating another")
    .argument("<id>", "id of a pending key")
    .action(async (keyId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      using signing = await openService(session, "signing", KeyAdminService);
      const { key } = await signing.call((client, options) => client.retireKey({ keyId }, options));
      session.print(key && shownKey(key), `signing key ${keyId} is retired and never signs`);
    });
}

import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { shownKey } from "./shown-key.ts";

export function activateSigningKey(world: World): Command {
  return new Command("activate")
    .description("let a pending key sign, and retire the one before")
    .argument("<id>", "id of a pending key")
    .option("--emergency", "do not wait until the key was published long enough")
    .action(async (keyId: string, { emergency = false }: { emergency?: boolean }, command: Command) => {
      const session = await openSession(world, command);
      using signing = await openService(session, "signing", KeyAdminService);
      const { key } = await signing.call((client, options) => client.activateKey({ keyId, emergency }, options));
      session.print(key && shownKey(key), `signing key ${keyId} signs; the one before is retired`);
    });
}

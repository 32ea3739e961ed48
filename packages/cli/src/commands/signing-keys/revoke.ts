import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { shownKey } from "./shown-key.ts";

export function revokeSigningKey(world: World): Command {
  return new Command("revoke")
    .description("take a key out of the trust list; receivers then refuse all that it signed")
    .argument("<id>", "id of the key")
    .option("--emergency", "let the next key sign at once, although it was not published long enough")
    .action(async (keyId: string, { emergency = false }: { emergency?: boolean }, command: Command) => {
      const session = await openSession(world, command);
      using signing = await openService(session, "signing", KeyAdminService);
      const answer = await signing.call((client, options) => client.revokeKey({ keyId, emergency }, options));
      const active = answer.activeKeyId || null;
      const now = active ? `${active} signs` : "nothing signs until the next key may";
      session.print({ ...(answer.key && shownKey(answer.key)), active }, `signing key ${keyId} is revoked; ${now}`);
    });
}

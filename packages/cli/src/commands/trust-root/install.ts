import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { shownListKey } from "./show.ts";

export function installDelegation(world: World): Command {
  return new Command("install")
    .description("have the trust list carry a delegation of the offline root, in place of the one before")
    .argument("<delegation>", "as `trust-root delegate` printed it")
    .option("--root <key>", "the root's public key, as `trust-root create` printed it")
    .action(async (encoded: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const rootPublicKey = Buffer.from(session.settings.get("root"), "base64");
      const delegation = Buffer.from(encoded, "base64").toString();
      using signing = await openService(session, "signing", KeyAdminService);
      const { listKey } = await signing.call((client, options) =>
        client.installDelegation({ delegation, rootPublicKey }, options),
      );
      const shown = shownListKey(listKey);
      session.print(shown, `the root delegates to the list key ${shown.id} until ${shown.delegatedUntil}`);
    });
}

import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function rewrapSigningKeys(world: World): Command {
  return new Command("rewrap")
    .description("wrap the private keys by the KEK of SIGNING_KEK_FILE, so that the one before can be destroyed")
    .action(async (_: unknown, command: Command) => {
      const session = await openSession(world, command);
      using signing = await openService(session, "signing", KeyAdminService);
      const { kekId, privateKeys, changed } = await signing.call((client, options) => client.rewrapKeys({}, options));
      const done = changed ? "wraps" : "wrapped before, and wraps,";
      session.print({ kekId, privateKeys, changed }, `the KEK ${kekId} ${done} all ${privateKeys} private keys`);
    });
}

import { KeyAdminService, type ListKey } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function showTrustRoot(world: World): Command {
  return new Command("show")
    .description("show signing's list key, and until when the offline root delegates to it")
    .action(async (_: unknown, command: Command) => {
      const session = await openSession(world, command);
      using signing = await openService(session, "signing", KeyAdminService);
      const { listKey } = await signing.read((client, options) => client.listRing({}, options));
      const shown = shownListKey(listKey);
      const until = shown.delegatedUntil === null ? "no delegation is installed" : `until ${shown.delegatedUntil}`;
      session.print(shown, `list key ${shown.id}: ${shown.publicKey}\ndelegated: ${until}`);
    });
}

export function shownListKey(key: ListKey | undefined) {
  const publicKey = Buffer.from(key?.publicKey ?? []).toString("base64");
  return { id: key?.keyId ?? "", publicKey, delegatedUntil: isoTime(key?.delegatedUntil) };
}

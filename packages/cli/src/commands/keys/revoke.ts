import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function revokeKey(world: World): Command {
  return new Command("revoke")
    .description("end a key at once; this cannot be undone")
    .argument("<id>", "id of the key")
    .action(async (keyId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", AccessService);
      const { apiKey } = await access.call((client, options) => client.revokeApiKey({ tenantId, keyId }, options));
      const revokedAt = isoTime(apiKey?.revokedAt);
      session.print({ id: keyId, revokedAt }, `key ${keyId} of tenant ${tenantId} is revoked since ${revokedAt}`);
    });
}

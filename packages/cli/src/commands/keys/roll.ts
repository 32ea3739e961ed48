import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { type Overlap, overlapOption, overlapsMs } from "../../options/overlap.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function rollKey(world: World): Command {
  return new Command("roll")
    .description("make a key that replaces another; it is shown only once")
    .argument("<id>", "id of the key to replace")
    .addOption(
      // No default: 0 locks out clients that still use the old key, and 7d is too long for a leaked
      // key.
      overlapOption("how long the old key still works").makeOptionMandatory(),
    )
    .action(async (keyId: string, { overlap }: { overlap: Overlap }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", AccessService);
      const { apiKey, secret, replaced } = await access.call((client, options) =>
        client.rollApiKey({ tenantId, keyId, overlap: durationFromMs(overlapsMs[overlap]) }, options),
      );
      const made = { id: apiKey?.keyId, key: secret, scopes: apiKey?.scopes };
      const old = { id: keyId, expiresAt: isoTime(replaced?.expiresAt), revokedAt: isoTime(replaced?.revokedAt) };
      const rest = old.revokedAt ? "opens nothing any more" : `works until ${old.expiresAt}`;
      session.print(
        { ...made, replaced: old },
        `key ${made.id} takes the place of ${keyId}, which ${rest}. Keep the new one: it is not shown again.\n\n${secret}`,
      );
    });
}

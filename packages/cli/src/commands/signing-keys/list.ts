import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";
import { shownKey } from "./shown-key.ts";

export function listSigningKeys(world: World): Command {
  return new Command("list")
    .description("list every signing key ever made, revoked ones too")
    .action(async (_: unknown, command: Command) => {
      const session = await openSession(world, command);
      using signing = await openService(session, "signing", KeyAdminService);
      const { keys } = await signing.read((client, options) => client.listRing({}, options));
      const rows = keys.map(shownKey);
      const cells = rows.map((row) => [
        row.id,
        row.state,
        row.publishedAt,
        row.validFrom,
        row.validUntil,
        row.activeSince,
      ]);
      const headers = ["id", "state", "published", "valid from", "valid until", "signs since"];
      session.print(
        rows,
        table(
          headers,
          cells.map((row) => row.map((cell) => cell ?? "-")),
        ),
      );
    });
}

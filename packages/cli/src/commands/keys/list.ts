import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { readKeys } from "../../rpc/read-keys.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";
import { stateOf, toShown } from "./shown-key.ts";

export function listKeys(world: World): Command {
  return new Command("list")
    .description("list the keys of a tenant")
    .option("--live", "only those that are valid now")
    .action(async ({ live = false }: { live?: boolean }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", AccessService);
      const rows = (await readKeys(access, tenantId, live)).map(toShown);
      session.print(
        rows,
        table(
          ["id", "prefix", "name", "scopes", "state", "last used", "created", "by"],
          rows.map((row) => [
            row.id,
            row.prefix,
            row.name,
            row.scopes.join(","),
            stateOf(row, new Date()),
            row.lastUsedAt ?? "-",
            row.createdAt ?? "",
            row.createdBy,
          ]),
        ),
      );
    });
}

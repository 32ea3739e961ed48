import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

/** `keys list --tenant T` */
export function listKeys(world: World): Command {
  return new Command("list").description("list the keys of a tenant").action(async (_: unknown, command: Command) => {
    const session = await openSession(world, command);
    const tenantId = session.settings.get("tenant");
    using access = await openService(session, "access", AccessService);
    const { apiKeys } = await access.read((client, options) => client.listApiKeys({ tenantId }, options));
    const rows = apiKeys.map(({ keyId, prefix, name, scopes, createdAt, createdBy }) => {
      return { id: keyId, prefix, name, scopes, createdAt: isoTime(createdAt), createdBy };
    });
    session.print(
      rows,
      table(
        ["id", "prefix", "name", "scopes", "created", "by"],
        rows.map((row) => [row.id, row.prefix, row.name, row.scopes.join(","), row.createdAt ?? "", row.createdBy]),
      ),
    );
  });
}

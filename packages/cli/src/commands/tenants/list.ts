import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

export function listTenants(world: World): Command {
  return new Command("list").description("list all tenants").action(async (_: unknown, command: Command) => {
    const session = await openSession(world, command);
    using access = await openService(session, "access", AccessService);
    const { tenants } = await access.read((client, options) => client.listTenants({}, options));
    const rows = tenants.map(({ tenantId, name, createdAt, disabledAt }) => ({
      id: tenantId,
      name,
      createdAt: isoTime(createdAt),
      disabledAt: isoTime(disabledAt),
    }));
    session.print(
      rows,
      table(
        ["id", "name", "created", "disabled"],
        rows.map(({ id, name, createdAt, disabledAt }) => [id, name, createdAt ?? "", disabledAt ?? "-"]),
      ),
    );
  });
}

import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";
import { stateOf, toShownWithHealth } from "../../shown/shown-endpoint.ts";

export function listEndpoints(world: World): Command {
  return new Command("list").description("list a tenant's receivers").action(async (_: unknown, command: Command) => {
    const session = await openSession(world, command);
    const tenantId = session.settings.get("tenant");
    using delivery = await openService(session, "delivery", EndpointService);
    const { endpoints } = await delivery.read((client, options) => client.listEndpoints({ tenantId }, options));
    const rows = endpoints.map(toShownWithHealth);
    session.print(
      rows,
      table(
        ["id", "name", "url", "state", "pending since", "last accepted", "created"],
        rows.map((row) => [
          row.id,
          row.name,
          row.url,
          stateOf(row),
          row.health?.oldestPendingAt ?? "-",
          row.health?.lastAcceptedAt ?? "-",
          row.createdAt ?? "",
        ]),
      ),
    );
  });
}

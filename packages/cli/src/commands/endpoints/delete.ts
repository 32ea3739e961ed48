import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function deleteEndpoint(world: World): Command {
  return new Command("delete")
    .description("remove a receiver and the deliveries that wait for it")
    .argument("<id>", "id of the endpoint")
    .action(async (endpointId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", EndpointService);
      await delivery.call((client, options) => client.deleteEndpoint({ tenantId, endpointId }, options));
      session.print({ id: endpointId }, `endpoint ${endpointId} is removed`);
    });
}

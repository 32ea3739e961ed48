import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { endpointText, toShown } from "../../shown/shown-endpoint.ts";

export function enableEndpoint(world: World): Command {
  return new Command("enable")
    .description("send to a receiver again, what was held first")
    .argument("<id>", "id of the endpoint")
    .action(async (endpointId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", EndpointService);
      const { endpoint } = await delivery.call((client, options) =>
        client.enableEndpoint({ tenantId, endpointId }, options),
      );
      const shown = toShown(endpoint);
      session.print(shown, endpointText(shown));
    });
}

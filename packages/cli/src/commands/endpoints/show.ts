import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { endpointText, toShownWithHealth } from "../../shown/shown-endpoint.ts";

export function showEndpoint(world: World): Command {
  return new Command("show")
    .description("read one receiver, and how it does")
    .argument("<id>", "id of the endpoint")
    .action(async (endpointId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", EndpointService);
      const { endpoint } = await delivery.read((client, options) =>
        client.getEndpoint({ tenantId, endpointId }, options),
      );
      const shown = toShownWithHealth(endpoint);
      session.print(shown, endpointText(shown));
    });
}

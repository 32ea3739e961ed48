import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { addEndpointOptions, type EndpointOptions, toSettings } from "./endpoint-options.ts";
import { endpointText, toShown } from "./shown-endpoint.ts";

/** `endpoints update ID --tenant T [--url U] …` */
export function updateEndpoint(world: World): Command {
  const command = new Command("update")
    .description("change settings of a receiver; a list replaces the one before")
    .argument("<id>", "id of the endpoint")
    .option("--url <url>", "where webhooks are posted to");
  return addEndpointOptions(command)
    .option("--no-headers", "send no headers of its own")
    .action(async (endpointId: string, options: EndpointOptions & { headers: boolean }, self: Command) => {
      const session = await openSession(world, self);
      const tenantId = session.settings.get("tenant");
      const given = toSettings(options.headers ? options : { ...options, header: {} });
      if (Object.keys(given).length === 0) throw new CliError("nothing to change: pass at least one setting");
      using delivery = await openService(session, "delivery", EndpointService);
      const { endpoint } = await delivery.call((client, call) =>
        client.updateEndpoint({ tenantId, endpointId, ...given }, call),
      );
      const shown = toShown(endpoint);
      session.print(shown, endpointText(shown));
    });
}

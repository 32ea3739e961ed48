import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { addEndpointOptions, type EndpointOptions, toSettings } from "./endpoint-options.ts";
import { endpointText, toShown } from "../../shown/shown-endpoint.ts";

interface UpdateOptions extends EndpointOptions {
  headers: boolean;
  rotateSecret?: boolean;
}

export function updateEndpoint(world: World): Command {
  const command = new Command("update")
    .description("change settings of a receiver; a list replaces the one before")
    .argument("<id>", "id of the endpoint")
    .option("--url <url>", "where webhooks are posted to");
  return addEndpointOptions(command)
    .option("--rotate-secret", "make a new secret, which ends every other one at once")
    .option("--no-headers", "send no headers of its own")
    .action(async (endpointId: string, options: UpdateOptions, self: Command) => {
      const session = await openSession(world, self);
      const tenantId = session.settings.get("tenant");
      const settings = await toSettings(world, options.headers ? options : { ...options, header: {} });
      const given = { ...settings, ...(options.rotateSecret ? { rotateSecret: true } : {}) };
      if (Object.keys(given).length === 0) throw new CliError("nothing to change: pass at least one setting");
      using delivery = await openService(session, "delivery", EndpointService);
      const { endpoint, secret } = await delivery.call((client, call) =>
        client.updateEndpoint({ tenantId, endpointId, ...given }, call),
      );
      const shown = toShown(endpoint);
      const kept = secret ? `\n\nKeep its new secret: it is not shown again.\n\n${secret}` : "";
      session.print({ ...shown, ...(secret ? { secret } : {}) }, endpointText(shown) + kept);
    });
}

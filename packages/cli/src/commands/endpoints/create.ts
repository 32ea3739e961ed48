import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

/** `endpoints create --tenant T --url U` */
export function createEndpoint(world: World): Command {
  return new Command("create")
    .description("register a receiver; its secret is shown only once")
    .requiredOption("--url <url>", "where webhooks are posted to")
    .action(async ({ url }: { url: string }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", EndpointService);
      const { endpoint, secret } = await delivery.call((client, options) =>
        client.createEndpoint({ tenantId, url }, options),
      );
      const id = endpoint?.endpointId;
      session.print(
        { id, secret },
        `endpoint ${id} is registered. Keep its secret: it is not shown again.\n\n${secret}`,
      );
    });
}

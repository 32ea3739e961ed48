import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { addEndpointOptions, type EndpointOptions, toSettings } from "./endpoint-options.ts";
import { pingText, toShownPing } from "../../shown/shown-endpoint.ts";

interface CreateOptions extends EndpointOptions {
  url: string;
  disabled?: boolean;
  verify?: boolean;
}

/** Longer than the ping of `--verify`, which may take 15 s. */
const timeoutMs = 20_000;

export function createEndpoint(world: World): Command {
  const command = new Command("create")
    .description("register a receiver; its secret is shown only once")
    .requiredOption("--url <url>", "where webhooks are posted to");
  return addEndpointOptions(command)
    .option("--disabled", "register it disabled; its deliveries are held")
    .option("--verify", "post a signed ping at once")
    .action(async (options: CreateOptions, self: Command) => {
      const session = await openSession(world, self);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", EndpointService);
      const { disabled = false, verify = false, url } = options;
      const request = { tenantId, ...(await toSettings(world, options)), url, disabled, verify };
      const made = await delivery.call((client, call) => client.createEndpoint(request, { ...call, timeoutMs }));
      const id = made.endpoint?.endpointId;
      const ping = made.ping ? { ping: toShownPing(made.ping) } : {};
      session.print(
        { id, secret: made.secret || null, ...ping },
        (made.secret
          ? `endpoint ${id} is registered. Keep its secret: it is not shown again.\n\n${made.secret}`
          : `endpoint ${id} is registered, with the secret that you gave`) +
          (ping.ping ? `\n\n${pingText(ping.ping)}` : ""),
      );
    });
}

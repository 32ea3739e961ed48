import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { pingText, toShownPing } from "../../shown/shown-endpoint.ts";

/** Longer than an attempt, which may take 15 s. */
const timeoutMs = 20_000;

export function testEndpoint(world: World): Command {
  return new Command("test")
    .description("post a signed ping to a receiver, and say what came of it")
    .argument("<id>", "id of the endpoint")
    .action(async (endpointId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", EndpointService);
      const { ping } = await delivery.call((client, options) =>
        client.testEndpoint({ tenantId, endpointId }, { ...options, timeoutMs }),
      );
      const shown = toShownPing(ping);
      session.print(shown, pingText(shown));
      if (!shown.accepted) throw new CliError(`endpoint ${endpointId} did not accept the ping`);
    });
}

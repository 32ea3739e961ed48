import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { type Overlap, overlapOption, overlapsMs } from "../../options/overlap.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function rotateEndpoint(world: World): Command {
  return new Command("rotate")
    .description("make a new secret; it is shown only once")
    .argument("<id>", "id of the endpoint")
    .addOption(overlapOption("how long webhooks are signed with the older secret, too").default("24h"))
    .action(async (endpointId: string, { overlap }: { overlap: Overlap }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", EndpointService);
      const { endpoint, secret } = await delivery.call((client, options) =>
        client.rotateEndpointSecret({ tenantId, endpointId, overlap: durationFromMs(overlapsMs[overlap]) }, options),
      );
      const previousSecretEndsAt = isoTime(endpoint?.previousSecretEndsAt);
      const older = previousSecretEndsAt ? `is used until ${previousSecretEndsAt}` : "is not used any more";
      session.print(
        { id: endpointId, secret, previousSecretEndsAt },
        `endpoint ${endpointId} has a new secret, and the older one ${older}. Keep it: it is not shown again.\n\n${secret}`,
      );
    });
}

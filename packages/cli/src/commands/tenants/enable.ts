import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function enableTenant(world: World): Command {
  return new Command("enable")
    .description("enable a disabled tenant: its keys are valid again")
    .argument("<id>", "id of the tenant")
    .action(async (tenantId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      using access = await openService(session, "access", AccessService);
      await access.call((client, options) => client.enableTenant({ tenantId }, options));
      session.print({ id: tenantId }, `tenant ${tenantId} is enabled`);
    });
}

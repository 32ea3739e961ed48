import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function disableTenant(world: World): Command {
  return new Command("disable")
    .description("disable a tenant: its keys are refused and its data cannot be changed until it is enabled")
    .argument("<id>", "id of the tenant")
    .action(async (tenantId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      using access = await openService(session, "access", AccessService);
      const { tenant } = await access.call((client, options) => client.disableTenant({ tenantId }, options));
      const disabledAt = isoTime(tenant?.disabledAt);
      session.print({ id: tenantId, disabledAt }, `tenant ${tenantId} is shut out since ${disabledAt}`);
    });
}

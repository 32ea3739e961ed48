import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function createTenant(world: World): Command {
  return new Command("create")
    .description("make a tenant")
    .requiredOption("--id <tenant>", "a small letter, then up to 31 of a-z, 0-9 and _")
    .requiredOption("--name <name>", "name for people")
    .action(async ({ id, name }: { id: string; name: string }, command: Command) => {
      const session = await openSession(world, command);
      using access = await openService(session, "access", AccessService);
      await access.call((client, options) => client.createTenant({ tenantId: id, name }, options));
      session.print({ id, name }, `tenant ${id} is made`);
    });
}

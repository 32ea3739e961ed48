import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function removeMember(world: World): Command {
  return new Command("remove")
    .description("take a member out of a tenant; needs --role owner")
    .argument("<id>", "id of the member, person:…")
    .action(async (memberId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", MemberService);
      await access.call((client, options) => client.removeMember({ tenantId, memberId }, options));
      session.print({ id: memberId }, `${memberId} is no member of tenant ${tenantId}`);
    });
}

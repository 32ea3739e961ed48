import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { Command } from "commander";
import { readNameList } from "../../options/name-list.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function setRoles(world: World): Command {
  return new Command("set-roles")
    .description("replace the roles of a member; needs --role owner")
    .argument("<id>", "id of the member, person:…")
    .requiredOption("--roles <roles>", "all its roles from now on, separated by commas", readNameList)
    .action(async (memberId: string, { roles }: { roles: string[] }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", MemberService);
      const { member } = await access.call((client, options) =>
        client.updateMemberRoles({ tenantId, memberId, roles }, options),
      );
      const held = member?.roles ?? [];
      session.print({ id: memberId, roles: held }, `${memberId} is ${held.join(", ")} of tenant ${tenantId}`);
    });
}

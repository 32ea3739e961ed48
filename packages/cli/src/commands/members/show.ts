import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";
import { toShown } from "./shown-member.ts";

export function showMember(world: World): Command {
  return new Command("show")
    .description("read one member of a tenant")
    .argument("<id>", "id of the member, person:…")
    .action(async (memberId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", MemberService);
      const { member } = await access.read((client, options) => client.getMember({ tenantId, memberId }, options));
      if (!member) throw new CliError(`tenant ${tenantId} has no member ${memberId}`);
      const shown = toShown(member);
      session.print(
        shown,
        table(
          ["field", "value"],
          Object.entries(shown).map(([name, value]) => [name, [value ?? "-"].flat().join(",")]),
        ),
      );
    });
}

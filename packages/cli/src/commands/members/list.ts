import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { walkPages } from "../../rpc/walk-pages.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";
import { toShown } from "./shown-member.ts";

export function listMembers(world: World): Command {
  return new Command("list")
    .description("list the members of a tenant and their roles")
    .action(async (_: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", MemberService);
      const { rows } = await walkPages(Number.POSITIVE_INFINITY, async (page) => {
        const { members, nextPageToken } = await access.read((client, options) =>
          client.listMembers({ tenantId, ...page }, options),
        );
        return { rows: members.map(toShown), nextPageToken };
      });
      session.print(
        rows,
        table(
          ["id", "name", "address", "roles", "since", "invited by"],
          rows.map((row) => [row.id, row.name, row.address, row.roles.join(","), row.createdAt ?? "", row.invitedBy]),
        ),
      );
    });
}

import { type Invitation, MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { Command } from "commander";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

export function listInvitations(world: World): Command {
  return new Command("invitations")
    .description("list the invitations that are open, newest first")
    .action(async (_: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", MemberService);
      const { invitations } = await access.read((client, options) => client.listInvitations({ tenantId }, options));
      const rows = invitations.map(toShown);
      session.print(
        rows,
        table(
          ["id", "roles", "note", "until", "invited by"],
          rows.map((row) => [row.id, row.roles.join(","), row.note, row.expiresAt ?? "", row.invitedBy]),
        ),
      );
    });
}

function toShown({ invitationId, roles, note, invitedBy, createdAt, expiresAt }: Invitation) {
  return { id: invitationId, roles, note, invitedBy, createdAt: isoTime(createdAt), expiresAt: isoTime(expiresAt) };
}

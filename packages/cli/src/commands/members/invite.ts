import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { Command } from "commander";
import { consoleLinks } from "../../options/console-link.ts";
import { readNameList } from "../../options/name-list.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

interface InviteOptions {
  roles: string[];
  note: string;
}

export function inviteMember(world: World): Command {
  return new Command("invite")
    .description("make an invitation for seven days; only an owner (--role owner) gives the role owner")
    .requiredOption("--roles <roles>", "what the invited will be, separated by commas", readNameList)
    .option("--note <text>", "for whom it is, to be shown in the list of invitations", "")
    .action(async ({ roles, note }: InviteOptions, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      const linkOf = consoleLinks(session.settings, "/invitation");
      using access = await openService(session, "access", MemberService);
      const { invitation, code } = await access.call((client, options) =>
        client.inviteMember({ tenantId, roles, note }, options),
      );
      const link = linkOf(code);
      const made = {
        id: invitation?.invitationId,
        roles: invitation?.roles,
        expiresAt: isoTime(invitation?.expiresAt),
        code,
        link,
      };
      const text = `invitation ${made.id} to tenant ${tenantId} holds until ${made.expiresAt}. Keep it: it is not shown again.`;
      session.print(made, `${text}\n\n${link ?? code}`);
    });
}

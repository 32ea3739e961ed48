import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function revokeInvitation(world: World): Command {
  return new Command("revoke-invitation")
    .description("end an invitation before it is accepted")
    .argument("<id>", "id of the invitation")
    .action(async (invitationId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", MemberService);
      await access.call((client, options) => client.revokeInvitation({ tenantId, invitationId }, options));
      session.print({ id: invitationId }, `invitation ${invitationId} of tenant ${tenantId} is revoked`);
    });
}

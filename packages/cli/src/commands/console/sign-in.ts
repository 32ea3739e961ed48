import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { Command } from "commander";
import { consoleLinks } from "../../options/console-link.ts";
import { readNameList } from "../../options/name-list.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

interface SignInOptions {
  as: string;
  roles?: string[];
}

export function signIn(world: World): Command {
  return new Command("sign-in")
    .description("make a link that signs in to the console once, within ten minutes")
    .option("--as <name>", "who signs in; the same name is the same person", "operator")
    .option("--roles <roles>", "of a new member, by commas; by default owner, or those it has", readNameList)
    .action(async ({ as: subject, roles = [] }: SignInOptions, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      const linkOf = consoleLinks(session.settings, "/sign-in");
      using access = await openService(session, "access", MemberService);
      const { code, expiresAt } = await access.call((client, options) =>
        client.createSignInLink({ subject, tenantId, roles }, options),
      );
      const link = linkOf(code);
      session.print({ code, link, expiresAt: isoTime(expiresAt) }, link ?? code);
    });
}

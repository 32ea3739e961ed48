import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { readNameList } from "../../options/name-list.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function createKey(world: World): Command {
  return new Command("create")
    .description("make an API key; it is shown only once")
    .requiredOption("--name <name>", "name for people")
    .requiredOption("--scopes <scopes>", "what it may do, separated by commas")
    .addHelpText("after", scopesHelp)
    .action(async ({ name, scopes }: { name: string; scopes: string }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", AccessService);
      const { apiKey, secret } = await access.call((client, options) =>
        client.createApiKey({ tenantId, name, scopes: readNameList(scopes) }, options),
      );
      const made = { id: apiKey?.keyId, key: secret, scopes: apiKey?.scopes };
      session.print(made, `key ${made.id} of tenant ${tenantId} is made. Keep it: it is not shown again.\n\n${secret}`);
    });
}

const scopesHelp = `
Scopes, none of which implies another:
  documents:create  push documents in; every one begins as a draft
  publisher:read    read published documents, sites, their versions and changes
  phrases:read      read the dictionary
  phrases:write     add, replace, import and delete phrases of the dictionary
  webhooks:read     read webhook endpoints and what became of their deliveries
  webhooks:write    create, change and delete webhook endpoints, and send deliveries again`;

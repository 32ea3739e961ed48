import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { readNameList } from "../../options/name-list.ts";
import { openService, type ServiceCaller } from "../../rpc/open-service.ts";
import { readKeys } from "../../rpc/read-keys.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function grantScopes(world: World): Command {
  return new Command("grant")
    .description("add scopes to a key; with --only, replace its scopes")
    .argument("<id>", "id of the key")
    .requiredOption("--scopes <scopes>", "what it may do, separated by commas")
    .option("--only", "take away every scope that is not named")
    .action(async (keyId: string, { scopes, only }: { scopes: string; only?: boolean }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using access = await openService(session, "access", AccessService);
      const held = only ? [] : await scopesOf(access, tenantId, keyId);
      const wanted = [...new Set([...held, ...readNameList(scopes)])];
      const { apiKey } = await access.call((client, options) =>
        client.updateApiKeyScopes({ tenantId, keyId, scopes: wanted }, options),
      );
      const granted = apiKey?.scopes ?? [];
      session.print({ id: keyId, scopes: granted }, `key ${keyId} of tenant ${tenantId} holds ${granted.join(", ")}`);
    });
}

/** The service replaces all scopes of a key, so the existing ones must be sent, too. */
async function scopesOf(
  access: ServiceCaller<typeof AccessService>,
  tenantId: string,
  keyId: string,
): Promise<readonly string[]> {
  const found = (await readKeys(access, tenantId)).find((key) => key.keyId === keyId);
  if (!found) throw new CliError(`tenant ${tenantId} has no key ${keyId}`);
  return found.scopes;
}

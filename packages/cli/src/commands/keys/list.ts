import { type ApiKey, AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Command } from "commander";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { readKeys } from "../../rpc/read-keys.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

/** `keys list --tenant T` */
export function listKeys(world: World): Command {
  return new Command("list").description("list the keys of a tenant").action(async (_: unknown, command: Command) => {
    const session = await openSession(world, command);
    const tenantId = session.settings.get("tenant");
    using access = await openService(session, "access", AccessService);
    const rows = (await readKeys(access, tenantId)).map(toShown);
    session.print(
      rows,
      table(
        ["id", "prefix", "name", "scopes", "state", "last used", "created", "by"],
        rows.map((row) => [
          row.id,
          row.prefix,
          row.name,
          row.scopes.join(","),
          stateOf(row, new Date()),
          row.lastUsedAt ?? "-",
          row.createdAt ?? "",
          row.createdBy,
        ]),
      ),
    );
  });
}

function toShown({ keyId, prefix, name, scopes, createdBy, replacedBy, ...times }: ApiKey) {
  return {
    id: keyId,
    prefix,
    name,
    scopes,
    createdBy,
    createdAt: isoTime(times.createdAt),
    expiresAt: isoTime(times.expiresAt),
    revokedAt: isoTime(times.revokedAt),
    replacedBy: replacedBy || null,
    lastUsedAt: isoTime(times.lastUsedAt),
  };
}

/** Whether a key is valid now. ISO 8601 timestamps in UTC with milliseconds compare as text. */
function stateOf({ revokedAt, expiresAt }: ReturnType<typeof toShown>, now: Date): string {
  if (revokedAt) return "revoked";
  if (!expiresAt) return "live";
  return expiresAt <= now.toISOString() ? "expired" : `until ${expiresAt}`;
}

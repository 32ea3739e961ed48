import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AuditEntry } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import { Command, Option } from "commander";
import { readDate } from "../../options/date.ts";
import { readNameList } from "../../options/name-list.ts";
import { wholeNumber } from "../../options/whole-number.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { type AuditedService, auditedServices, openAudit } from "../../rpc/open-audit.ts";
import { walkPages } from "../../rpc/walk-pages.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

interface ListOptions {
  service: AuditedService;
  actor?: string;
  action?: string[];
  since?: Date;
  until?: Date;
  limit: number;
}

/** `audit list [--service S] [--tenant T]` */
export function listAudit(world: World): Command {
  return new Command("list")
    .description("list who changed what and when, newest first")
    .addOption(
      new Option("--service <name>", "tenants and API keys; endpoints; schemas and workflows; signing keys")
        .choices(auditedServices)
        .default("access"),
    )
    .option("--actor <name>", "only by this actor")
    .option("--action <names>", "by commas, such as create_key,revoke_key", readNameList)
    .option("--since <time>", "only those made at or after it", readDate)
    .option("--until <time>", "only those made before it", readDate)
    .option("--limit <count>", "most rows", wholeNumber(1, 100_000), 50)
    .action(async ({ service, actor = "", action = [], since, until, limit }: ListOptions, self: Command) => {
      const session = await openSession(world, self);
      using reader = await openAudit(session, service);
      const query = {
        actor,
        actions: action,
        ...(since ? { since: timestampFromDate(since) } : {}),
        ...(until ? { until: timestampFromDate(until) } : {}),
      };
      const { rows, more } = await walkPages(limit, async (page) => {
        const { entries, nextPageToken } = await reader.read({ ...query, ...page });
        return { rows: entries.map(toShown), nextPageToken };
      });
      const headers = ["at", "actor", "identity", "from", "action", "subject", "detail"];
      const lines = table(
        headers,
        rows.map(({ at, actor: by, identity, from, action: done, subject, detail }) => {
          return [at ?? "", by, identity ?? "-", from ?? "-", done, subject, JSON.stringify(detail)];
        }),
      );
      session.print(rows, more ? `${lines}\n(there are more: --limit)` : lines);
    });
}

function toShown(entry: AuditEntry) {
  const {
    entryId: id,
    at,
    tenantId,
    actor,
    role,
    identity,
    keyPrefix,
    fromAddress,
    requestId,
    action,
    subject,
  } = entry;
  return {
    id,
    at: isoTime(at),
    tenant: tenantId || null,
    actor,
    role,
    identity: identity || null,
    keyPrefix: keyPrefix || null,
    from: fromAddress || null,
    requestId,
    action,
    subject,
    detail: JSON.parse(Buffer.from(entry.detailJson).toString()) as unknown,
  };
}

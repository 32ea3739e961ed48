import type { AuditEntry } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import { Command, Option } from "commander";
import { timestamp, type TimestampInit } from "../../options/timestamp.ts";
import { readNameList } from "../../options/name-list.ts";
import { wholeNumber } from "../../options/whole-number.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { type AuditedService, auditedServices, openAudit } from "../../rpc/open-audit.ts";
import { walkPages } from "../../rpc/walk-pages.ts";
import { CliError } from "../../cli-error.ts";
import { openSession, type Session } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

interface ListOptions {
  service?: AuditedService;
  actor?: string;
  action?: string[];
  since?: TimestampInit;
  until?: TimestampInit;
  limit: number;
}

export function listAudit(world: World): Command {
  return new Command("list")
    .description("list who changed what and when, newest first")
    .addOption(
      new Option(
        "--service <name>",
        "of one service only: of tenants, keys and members; endpoints; schemas; signing keys",
      ).choices(auditedServices),
    )
    .option("--actor <name>", "only by this actor")
    .option("--action <names>", "by commas, such as create_key,revoke_key", readNameList)
    .option("--since <time>", "only those made at or after it", timestamp)
    .option("--until <time>", "only those made before it", timestamp)
    .option("--limit <count>", "most rows", wholeNumber(1, 100_000), 50)
    .action(async ({ service, ...options }: ListOptions, self: Command) => {
      const session = await openSession(world, self);
      const services = service ? [service] : auditedServices;
      const read = await Promise.allSettled(services.map((each) => readLog(session, each, options)));
      const logs = read.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
      const [failure, ...failures] = read.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
      if (failure && logs.length === 0) throw failure;
      const found = logs.flatMap(({ rows }) => rows).toSorted((a, b) => (b.at ?? "").localeCompare(a.at ?? ""));
      const rows = found.slice(0, options.limit);
      const more = found.length > rows.length || logs.some((log) => log.more);
      session.print(rows, more ? `${toTable(rows)}\n(there are more: --limit)` : toTable(rows));
      if (failure) throw new CliError([failure, ...failures].map(({ message }) => `not read: ${message}`).join("\n"));
    });
}

async function readLog(
  session: Session,
  service: AuditedService,
  { actor = "", action = [], since, until, limit }: Omit<ListOptions, "service">,
) {
  using reader = await openAudit(session, service);
  const query = {
    actor,
    actions: action,
    ...(since ? { since } : {}),
    ...(until ? { until } : {}),
  };
  return await walkPages(limit, async (page) => {
    const { entries, nextPageToken } = await reader.read({ ...query, ...page });
    return { rows: entries.map((entry) => toShown(service, entry)), nextPageToken };
  });
}

function toTable(rows: readonly ReturnType<typeof toShown>[]): string {
  const headers = ["at", "service", "actor", "identity", "from", "action", "subject", "detail"];
  return table(
    headers,
    rows.map(({ at, service, actor, identity, from, action, subject, detail }) => {
      return [at ?? "", service, actor, identity ?? "-", from ?? "-", action, subject, JSON.stringify(detail)];
    }),
  );
}

function toShown(service: AuditedService, entry: AuditEntry) {
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
    service,
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

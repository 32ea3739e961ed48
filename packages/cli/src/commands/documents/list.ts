import {
  DocumentOrder,
  DocumentService,
  type DocumentSummary,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Command, Option } from "commander";
import { timestamp, type TimestampInit } from "../../options/timestamp.ts";
import { wholeNumber } from "../../options/whole-number.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { walkPages } from "../../rpc/walk-pages.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

interface ListOptions {
  type?: string;
  status?: string;
  actor?: string;
  changedSince?: TimestampInit;
  sort: "changed" | "created";
  count?: boolean;
  limit: number;
}

export function listDocuments(world: World): Command {
  return new Command("list")
    .description("list a tenant's documents, last changed or last created first")
    .option("--type <type>", "only documents of this type, for example core/article")
    .option("--status <status>", "only documents whose newest version is in this state")
    .option("--actor <actor>", "only documents whose newest version this actor wrote")
    .option("--changed-since <time>", "only documents that changed then or later, for example 2026-11-22", timestamp)
    .addOption(new Option("--sort <by>", "what comes first").choices(["changed", "created"]).default("changed"))
    .option("--count", "say only how many documents there are")
    .option("--limit <n>", "most documents", wholeNumber(1, 100_000), 50)
    .action(async (listOptions: ListOptions, command: Command) => {
      const { type = "", status = "", actor = "", changedSince, sort, count = false, limit } = listOptions;
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using documents = await openService(session, "documents", DocumentService);
      const order = sort === "created" ? DocumentOrder.CREATED : DocumentOrder.CHANGED;
      const filter = { tenantId, type, status, actor, ...(changedSince ? { changedSince } : {}), order };
      if (count) {
        const request = { ...filter, count, limit: 1 };
        const answer = await documents.read((client, options) => client.listDocuments(request, options));
        session.print({ count: answer.count ?? 0 }, toCountText(answer.count ?? 0));
        return;
      }
      const { rows, more } = await walkPages(limit, async (page) => {
        const answer = await documents.read((client, options) => client.listDocuments({ ...filter, ...page }, options));
        return { rows: answer.documents.map(toShown), nextPageToken: answer.nextPageToken };
      });
      session.print(rows, toText(rows));
      if (more) world.stderr.write(`there are more than ${limit}: --limit\n`);
    });
}

/** The service counts up to 100,000 and answers 100,001 for all greater numbers. */
function toCountText(count: number): string {
  return count > 100_000 ? "more than 100000" : String(count);
}

function toShown({ documentId, type, version, status, title, lastPublished, createdAt, changedAt }: DocumentSummary) {
  return {
    id: documentId,
    type,
    version: Number(version),
    status,
    title,
    lastPublished: lastPublished ? { version: Number(lastPublished.version), status: lastPublished.status } : null,
    createdAt: isoTime(createdAt),
    changedAt: isoTime(changedAt),
  };
}

function toText(rows: readonly ReturnType<typeof toShown>[]): string {
  return table(
    ["id", "type", "version", "status", "published", "changed", "title"],
    rows.map(({ id, type, version, status, lastPublished, changedAt, title }) => [
      id,
      type,
      String(version),
      status,
      lastPublished ? `${lastPublished.version} ${lastPublished.status}` : "-",
      changedAt ?? "",
      title,
    ]),
  );
}

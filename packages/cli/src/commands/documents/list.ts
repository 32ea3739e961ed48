import { DocumentService, type DocumentSummary } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Command } from "commander";
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
  limit: number;
}

/** `documents list [--type T] [--status S] [--limit N]` */
export function listDocuments(world: World): Command {
  return new Command("list")
    .description("list a tenant's documents, last changed first")
    .option("--type <type>", "only documents of this type, for example core/article")
    .option("--status <status>", "only documents whose newest version is in this state")
    .option("--limit <n>", "most documents", wholeNumber(1, 100_000), 50)
    .action(async ({ type = "", status = "", limit }: ListOptions, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using documents = await openService(session, "documents", DocumentService);
      const { rows, more } = await walkPages(limit, async (page) => {
        const answer = await documents.read((client, options) =>
          client.listDocuments({ tenantId, type, status, ...page }, options),
        );
        return { rows: answer.documents.map(toShown), nextPageToken: answer.nextPageToken };
      });
      session.print(rows, toText(rows));
      if (more) world.stderr.write(`there are more than ${limit}: --limit\n`);
    });
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
